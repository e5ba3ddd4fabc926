/* SPDX-License-Identifier: Apache-2.0 */
/* Text, numbers and containers on hand-made images, laid out as each CPython version does: whole ones, and broken ones that must end in an error. */
#include "tests/unit/check.h"
#include "tests/unit/world.h"

static const uint32_t versions[] = {0x030b07f0, 0x030c01f0, 0x030d00f0, 0x030e0af0, 0x030f02f0};

static struct str text_of(struct world *w, vaddr at, uint32_t max, bool *cut)
{
	struct str s = {0};

	CHECK_EQUAL(object_str(&w->r, at, max, &w->scratch, &s, cut), ERR_OK);
	return s;
}

static void test_strings(struct world *w)
{
	static const uint8_t latin[] = {'a', 0xe9, 0xff};
	static const uint16_t two[] = {0x65e5, 0xd800, 0x41, 0xdfff};
	static const uint32_t four[] = {0x1f600, 0x110000, 0xdc80, 0x42};
	vaddr ascii = world_str(w, "coroutine"), empty = world_str(w, "");
	vaddr wide1 = world_str_wide(w, latin, 3, 1, false);
	vaddr wide2 = world_str_wide(w, two, 4, 2, false);
	vaddr wide4 = world_str_wide(w, four, 4, 4, false);
	vaddr apart = world_str_wide(w, "", 0, 1, true), lying = world_str(w, "x"), odd;
	vaddr endless = world_str(w, "y"), torn = world_str(w, "z"), gone = world_str(w, "v");
	bool cut;

	/* A subclass's instance: the characters lie apart. */
	world_put_field(w, apart, w->lay.str_compact, 0);
	world_put_field(w, apart, w->lay.str_length, 4);
	world_put(w, apart + w->lay.str_sizeof_compact, world_bytes(w, "away", 4), 8);
	odd = world_room(w, w->lay.str_sizeof_compact + 8);
	world_put_field(w, lying, w->lay.str_kind, 3);
	world_put_field(w, endless, w->lay.str_length, UINT64_MAX);
	world_put_field(w, torn, w->lay.str_length, (uint64_t)1 << 30);
	world_put_field(w, gone, w->lay.str_compact, 0);
	world_put(w, gone + w->lay.str_sizeof_compact, WORLD_NOWHERE, 8);
	world_show(w);

	CHECK(str_is(text_of(w, ascii, 100, &cut), "coroutine") && !cut);
	CHECK(str_is(text_of(w, ascii, 4, &cut), "coro") && cut);
	CHECK(str_is(text_of(w, empty, 100, &cut), "") && !cut);
	CHECK(str_is(text_of(w, wide1, 100, NULL), "a\xc3\xa9\xc3\xbf"));
	CHECK(str_is(text_of(w, wide2, 100, NULL), "\xe6\x97\xa5\xef\xbf\xbd"
						   "A\xef\xbf\xbd"));
	CHECK(str_is(text_of(w, wide4, 100, NULL), "\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd"
						   "B"));
	CHECK(str_is(text_of(w, apart, 100, NULL), "away"));
	CHECK(object_str_is(&w->r, ascii, "coroutine") && object_str_is(&w->r, empty, ""));
	CHECK(object_str_is(&w->r, apart, "away") && !object_str_is(&w->r, ascii, "coroutinE"));
	CHECK(!object_str_is(&w->r, wide2, "abcd") && !object_str_is(&w->r, 0, "abcd"));
	CHECK(!object_str_is(&w->r, ascii + 1, "coroutine") && !object_str_is(&w->r, gone, "v"));
	for (int i = 0; i < 7; i++) {
		const vaddr bad[] = {lying, endless, torn, gone, odd, 0, ascii + 4};
		struct str s;

		CHECK(object_str(&w->r, bad[i], UINT32_MAX, &w->scratch, &s, NULL) != ERR_OK);
	}
}

static void put_long(struct world *w, vaddr at, uint64_t digits, int sign)
{
	if (field_present(w->lay.long_tag))
		world_put_field(w, at, w->lay.long_tag,
				digits << 3 | (unsigned)(digits ? (sign < 0 ? 2 : 0) : 1));
	else
		world_put_field(w, at, w->lay.var_size, sign < 0 ? 0 - digits : digits);
}

static void test_numbers(struct world *w)
{
	static const struct {
		uint32_t digit[3];
		uint64_t count;
		int sign;
		enum err err;
		int64_t value;
	} cases[] = {
		{{0}, 0, 1, ERR_OK, 0},
		{{7}, 1, 1, ERR_OK, 7},
		{{1}, 1, -1, ERR_OK, -1},
		{{5, 1}, 2, 1, ERR_OK, (INT64_C(1) << 30) + 5},
		{{0x3fffffff, 0x3fffffff, 7}, 3, 1, ERR_OK, INT64_MAX},
		{{0, 0, 8}, 3, -1, ERR_OK, INT64_MIN},
		{{0, 0, 8}, 3, 1, ERR_BOUND, 0},
		{{0, 0, 16}, 3, -1, ERR_BOUND, 0},
		{{0, 0, 0}, 4, 1, ERR_BOUND, 0},
		{{0x40000000}, 1, 1, ERR_SHAPE, 0},
	};
	vaddr type = world_type(w, "int", w->object, 0), at[10], number;
	vaddr boolean = world_type(w, "bool", type, 0), yes, none;
	double half = 0.5, value;
	bool truth = true;
	int64_t n;

	for (size_t i = 0; i < 10; i++) {
		at[i] = world_object(w, type, w->lay.long_digit.offset + 16);
		put_long(w, at[i], cases[i].count, cases[i].sign);
		memcpy(world_at(w, at[i] + w->lay.long_digit.offset), cases[i].digit, 12);
	}
	number = world_object(w, world_type(w, "float", w->object, 0), 32);
	memcpy(world_at(w, number + w->lay.float_value.offset), &half, sizeof(half));
	yes = world_object(w, boolean, w->lay.long_digit.offset + 16);
	put_long(w, yes, 1, 1);
	world_put(w, yes + w->lay.long_digit.offset, 1, 4);
	none = world_object(w, w->none, 16);
	world_show(w);

	for (size_t i = 0; i < 10; i++) {
		n = -99;
		CHECK_EQUAL(object_long(&w->r, at[i], &n), cases[i].err);
		CHECK_EQUAL(n, cases[i].err == ERR_OK ? cases[i].value : -99);
	}
	CHECK(object_float(&w->r, number, &value) == ERR_OK && value == 0.5);
	CHECK(object_float(&w->r, at[1], &value) == ERR_OK && value == 7.0);
	CHECK(object_bool(&w->r, yes, &truth) == ERR_OK && truth);
	CHECK(object_bool(&w->r, at[0], &truth) == ERR_OK && !truth);
	CHECK(object_bool(&w->r, none, &truth) == ERR_OK && !truth);
	CHECK_EQUAL(object_bool(&w->r, number, &truth), ERR_SHAPE);
	CHECK_EQUAL(object_long(&w->r, none, &n), ERR_SHAPE);
	CHECK(object_is_none(&w->r, none) && !object_is_none(&w->r, 0));
	CHECK(!object_is_none(&w->r, WORLD_NOWHERE) && !object_is_none(&w->r, yes));
}

static void test_lists(struct world *w)
{
	enum {
		LONG = 100000
	};
	vaddr type = world_type(w, "list", w->object, 0), items = world_room(w, 8 * LONG);
	vaddr whole = world_object(w, type, 48), bad[5], empty = world_object(w, type, 48);
	static const uint64_t sizes[5] = {LONG, (uint64_t)1 << 40, UINT64_MAX, LONG, LONG};
	const vaddr places[5] = {0, items, items, items + 4, WORLD_NOWHERE};
	vaddr pair[2] = {whole, empty}, tuple = world_tuple(w, pair, 2);
	struct items got;
	int64_t length;
	bool same = true;

	for (uint64_t i = 0; i < LONG; i++)
		world_put(w, items + 8 * i, i * 16, 8);
	world_put_field(w, whole, w->lay.var_size, LONG);
	world_put_field(w, whole, w->lay.list_item, items);
	for (int i = 0; i < 5; i++) {
		bad[i] = world_object(w, type, 48);
		world_put_field(w, bad[i], w->lay.var_size, sizes[i]);
		world_put_field(w, bad[i], w->lay.list_item, places[i]);
	}
	world_show(w);

	CHECK_EQUAL(object_list(&w->r, whole, LONG, &got), ERR_OK);
	CHECK(got.count == LONG && !got.truncated);
	for (uint32_t i = 0; i < got.count; i++)
		same &= got.v[i] == (vaddr)i * 16;
	CHECK(same);
	CHECK_EQUAL(object_list(&w->r, whole, 10, &got), ERR_OK);
	CHECK(got.count == 10 && got.truncated);
	CHECK(object_list(&w->r, empty, 10, &got) == ERR_OK && !got.count && !got.truncated);
	CHECK(object_length(&w->r, whole, &length) == ERR_OK && length == LONG);
	CHECK(object_tuple(&w->r, tuple, 10, &got) == ERR_OK && got.count == 2);
	CHECK(got.v[0] == whole && got.v[1] == empty);
	CHECK_EQUAL(object_tuple(&w->r, whole, 10, &got), ERR_SHAPE);
	for (int i = 0; i < 5; i++) {
		CHECK(object_list(&w->r, bad[i], UINT32_MAX, &got) != ERR_OK);
		CHECK(!got.count);
	}
}

/* `blocks` blocks in a row, numbered items in all places. */
static vaddr put_deque(struct world *w, vaddr type, size_t blocks, uint64_t left, uint64_t size)
{
	size_t block_size = w->lay.dequeblock_rightlink.offset + 8u;
	vaddr at = world_object(w, type, 128), link = at + w->lay.deque_leftblock.offset;

	world_put_field(w, at, w->lay.deque_size, size);
	world_put_field(w, at, w->lay.deque_leftindex, left);
	for (size_t b = 0; b < blocks; b++) {
		vaddr block = world_room(w, block_size);

		for (uint64_t i = 0; i < 64; i++)
			world_put(w, block + w->lay.dequeblock_data.offset + 8 * i,
				  (b * 64 + i) * 16, 8);
		world_put(w, link, block, 8);
		link = block + w->lay.dequeblock_rightlink.offset;
	}
	world_put(w, link, at,
		  8); /* after the last: something that is no block, unless overwritten */
	return at;
}

static void test_deques(struct world *w)
{
	vaddr type = world_type(w, "collections.deque", w->object, WORLD_HEAPTYPE), first;
	vaddr whole = put_deque(w, type, 5, 60, 250), ring = put_deque(w, type, 2, 0, 1u << 30);
	vaddr odd = put_deque(w, type, 1, 64, 10), minus = put_deque(w, type, 1, 0, UINT64_MAX);
	vaddr nothing = put_deque(w, type, 0, 0, 0), cut = put_deque(w, type, 1, 0, 1000);
	vaddr lost = put_deque(w, type, 1, 0, 10);
	struct items got;
	bool same = true;

	memcpy(&first, world_at(w, ring + w->lay.deque_leftblock.offset), 8);
	world_put(w, first + w->lay.dequeblock_rightlink.offset, first, 8);
	memcpy(&first, world_at(w, cut + w->lay.deque_leftblock.offset), 8);
	world_put(w, first + w->lay.dequeblock_rightlink.offset, 0, 8);
	world_put_field(w, lost, w->lay.deque_leftblock, WORLD_NOWHERE);
	world_show(w);

	CHECK(object_deque(&w->r, whole, 1000, &got) == ERR_OK && got.count == 250);
	for (uint32_t i = 0; i < got.count; i++)
		same &= got.v[i] == (vaddr)(60 + i) * 16;
	CHECK(same && !got.truncated);
	CHECK(object_deque(&w->r, whole, 100, &got) == ERR_OK && got.count == 100);
	CHECK(got.truncated);
	CHECK(object_deque(&w->r, nothing, 100, &got) == ERR_OK && !got.count);
	CHECK_EQUAL(object_deque(&w->r, ring, UINT32_MAX, &got), ERR_BOUND);
	CHECK_EQUAL(object_deque(&w->r, odd, 100, &got), ERR_SHAPE);
	CHECK_EQUAL(object_deque(&w->r, minus, 100, &got), ERR_SHAPE);
	CHECK_EQUAL(object_deque(&w->r, cut, 1000, &got), ERR_SHAPE);
	CHECK_EQUAL(object_deque(&w->r, lost, 1000, &got), ERR_FAULT);
	CHECK(!got.count);
}

static vaddr put_set(struct world *w, vaddr type, vaddr table, uint64_t mask, uint64_t used)
{
	vaddr at = world_object(w, type, 200);

	world_put_field(w, at, w->lay.set_table, table);
	world_put_field(w, at, w->lay.set_mask, mask);
	world_put_field(w, at, w->lay.set_used, used);
	return at;
}

static void test_sets(struct world *w)
{
	enum {
		SLOTS = 1024
	};
	vaddr type = world_type(w, "set", w->object, 0), dummy = world_object(w, w->object, 16);
	vaddr table = world_room(w, 16 * SLOTS);
	vaddr whole = put_set(w, type, table, SLOTS - 1, SLOTS / 4), empty;
	vaddr more = put_set(w, type, table, SLOTS - 1, SLOTS / 2);
	vaddr bad[6];
	struct items got;
	bool live = true;

	/* Every fourth slot holds a key, the next one a deleted entry. */
	for (uint64_t i = 0; i < SLOTS; i += 4) {
		world_put(w, table + 16 * i, (i + 1) * 16, 8);
		world_put(w, table + 16 * i + 8, i * 77, 8);
		world_put(w, table + 16 * i + 16, dummy, 8);
		world_put(w, table + 16 * i + 24, UINT64_MAX, 8);
	}
	empty = put_set(w, type, table, 7, 0);
	bad[0] = put_set(w, type, table, 1000, 10);
	bad[1] = put_set(w, type, table, UINT64_MAX, 10);
	bad[2] = put_set(w, type, table, ((uint64_t)1 << 40) - 1, 10);
	bad[3] = put_set(w, type, 0, 7, 3);
	bad[4] = put_set(w, type, WORLD_NOWHERE, 7, 3);
	bad[5] = put_set(w, type, table, 7, 9);
	world_show(w);

	CHECK(object_set(&w->r, whole, 10000, &got) == ERR_OK && got.count == SLOTS / 4);
	for (uint32_t i = 0; i < got.count; i++)
		live &= got.v[i] == ((vaddr)i * 4 + 1) * 16;
	CHECK(live && !got.truncated);
	CHECK(object_set(&w->r, whole, 10, &got) == ERR_OK && got.count == 10 && got.truncated);
	CHECK(object_set(&w->r, more, 10000, &got) == ERR_OK && got.count == SLOTS / 4);
	CHECK(object_set(&w->r, empty, 10, &got) == ERR_OK && !got.count);
	for (int i = 0; i < 6; i++)
		CHECK(object_set(&w->r, bad[i], 100, &got) != ERR_OK && !got.count);
}

int main(void)
{
	static void (*const tests[])(struct world * w) = {test_strings, test_numbers, test_lists,
							  test_deques, test_sets};

	for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
		for (size_t t = 0; t < sizeof(tests) / sizeof(tests[0]); t++) {
			struct world *w = world_create(versions[v]);

			tests[t](w);
			world_destroy(w);
		}
	}
	return check_result("objects");
}
