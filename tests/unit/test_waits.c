/* SPDX-License-Identifier: Apache-2.0 */
/* What descriptions of waits are made of: lines of words that end at whole characters, and the queues of executors, whole and broken. */
#include "tests/unit/check.h"
#include "tests/unit/world.h"
#include "unwind/asyncio/words.h"

static const uint32_t versions[] = {0x030b07f0, 0x030c01f0, 0x030d00f0, 0x030e0af0, 0x030f02f0};

static bool is_utf8_end(const struct words *s)
{
	uint32_t i = s->len;

	while (i > 0 && ((unsigned char)s->text[i - 1] & 0xc0) == 0x80)
		i--;
	return i == s->len || (s->len - i == 2 && (unsigned char)s->text[i - 1] >> 4 == 0xe);
}

static void test_words(void)
{
	struct words s = {0};
	struct str wide = STR_LIT("日本語日本語");

	words_add(&s, "%d ", 7);
	words_str(&s, wide, 7);
	CHECK(str_is((struct str){s.text, s.len}, "7 日本…"));
	for (int i = 0; i < 1000; i++) {
		words_str(&s, wide, 100);
		CHECK(is_utf8_end(&s) && s.len < sizeof(s.text));
	}
	for (int i = 0; i < 1000; i++)
		words_add(&s, "%s", "more words");
	CHECK(s.len < sizeof(s.text));
	words_str(&s, (struct str){0}, 10);
}

/* The items (at most six) in a ring buffer of 8, the first in slot `first`; or all of a list. */
static vaddr put_queue(struct world *w, vaddr list_type, const vaddr *v, uint64_t count,
		       uint64_t first)
{
	vaddr type = world_type(w, "_queue.SimpleQueue", w->object, 0);
	vaddr at = world_object(w, type, 128), list, room = world_room(w, 8 * sizeof(*v));

	for (uint64_t i = 0; i < count && i < 6; i++)
		world_put(w, room + 8 * ((first + i) % 8), v[i], 8);
	if (field_present(w->lay.simplequeue_list)) {
		list = world_object(w, list_type, 64);
		for (uint64_t i = 0; i < count && i < 6; i++)
			world_put(w, room + 8 * i, v[i], 8);
		world_put_field(w, list, w->lay.var_size, count);
		world_put_field(w, list, w->lay.list_item, room);
		world_put_field(w, at, w->lay.simplequeue_list, list);
		return at;
	}
	world_put_field(w, at, w->lay.simplequeue_items, room);
	world_put_field(w, at, w->lay.simplequeue_first, first);
	world_put_field(w, at, w->lay.simplequeue_capacity, 8);
	world_put_field(w, at, w->lay.simplequeue_count, count);
	return at;
}

static void test_queues(struct world *w)
{
	vaddr list_type = world_type(w, "list", w->object, 0), v[6], many, empty, bad[2], other;
	vaddr none = world_object(w, w->none, 16);
	struct items got = {0};

	for (int i = 0; i < 6; i++)
		v[i] = world_object(w, w->object, 16);
	if (field_present(w->lay.simplequeue_list))
		v[0] = none; /* taken out already */
	many = put_queue(w, list_type, v, 6, 5);
	empty = put_queue(w, list_type, v, 0, 3);
	bad[0] = put_queue(w, list_type, v, UINT64_MAX, 1);
	bad[1] = put_queue(w, list_type, v, 6, 1);
	if (field_present(w->lay.simplequeue_list))
		world_put_field(w, bad[1], w->lay.simplequeue_list, WORLD_NOWHERE);
	else
		world_put_field(w, bad[1], w->lay.simplequeue_first, 8);
	other = world_object(w, w->object, 128);
	world_show(w);

	CHECK(object_simplequeue(&w->r, many, 100, &got) == ERR_OK && !got.truncated);
	if (field_present(w->lay.simplequeue_list)) {
		CHECK(got.count == 5 && got.v[0] == v[1] && got.v[4] == v[5]);
	} else {
		CHECK(got.count == 6 && !memcmp(got.v, v, sizeof(v)));
		CHECK(object_simplequeue(&w->r, many, 4, &got) == ERR_OK && got.count == 4);
		CHECK(got.truncated && !memcmp(got.v, v, 4 * sizeof(*v)));
	}
	CHECK(object_simplequeue(&w->r, empty, 100, &got) == ERR_OK && !got.count);
	for (int i = 0; i < 2; i++)
		CHECK(object_simplequeue(&w->r, bad[i], 100, &got) != ERR_OK && !got.count);
	CHECK_EQUAL(object_simplequeue(&w->r, other, 100, &got), ERR_SHAPE);
}

int main(void)
{
	test_words();
	for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
		struct world *w = world_create(versions[v]);

		test_queues(w);
		world_destroy(w);
	}
	return check_result("waits");
}
