/* SPDX-License-Identifier: Apache-2.0 */
/* Dicts, instance attributes, types and weak sets on hand-made images, laid out as each CPython version does; broken ones must end in an error. */
#include "tests/unit/check.h"
#include "tests/unit/world.h"

static const uint32_t versions[] = {0x030b07f0, 0x030c01f0, 0x030d00f0, 0x030e0af0, 0x030f02f0};

enum {
	KEYS = 6
};

struct pairs {
	vaddr keys[KEYS], values[KEYS];
};

/* Keys "key0" .. "key5"; the third was deleted. */
static struct pairs make_pairs(struct world *w)
{
	struct pairs p;
	char name[] = "key0";

	for (size_t i = 0; i < KEYS; i++) {
		name[3] = (char)('0' + i);
		p.keys[i] = world_str(w, name);
		p.values[i] = world_object(w, w->object, 16);
	}
	p.values[2] = 0;
	return p;
}

static void check_pairs(struct world *w, const struct pairs *p, vaddr dict)
{
	struct items keys, values;
	vaddr got;

	CHECK_EQUAL(dict_get(&w->r, dict, "key0", &got), ERR_OK);
	CHECK_EQUAL(got, p->values[0]);
	CHECK_EQUAL(dict_get(&w->r, dict, "key5", &got), ERR_OK);
	CHECK_EQUAL(got, p->values[5]);
	CHECK(dict_get(&w->r, dict, "key2", &got) == ERR_OK && !got);
	CHECK(dict_get(&w->r, dict, "key6", &got) == ERR_OK && !got);
	CHECK(dict_get(&w->r, dict, "", &got) == ERR_OK && !got);
	CHECK_EQUAL(dict_items(&w->r, dict, 100, &keys, &values), ERR_OK);
	CHECK(keys.count == 5 && values.count == 5 && !keys.truncated);
	CHECK(keys.v[2] == p->keys[3] && values.v[2] == p->values[3]);
	CHECK_EQUAL(dict_items(&w->r, dict, 2, &keys, &values), ERR_OK);
	CHECK(keys.count == 2 && values.count == 2 && keys.truncated);
}

static void test_kinds_and_widths(struct world *w)
{
	/* Index tables of 1, 2, 4 and 8 bytes an index. */
	static const unsigned log2_sizes[] = {3, 8, 16, 10}, widths[] = {0, 1, 2, 3};
	struct pairs p = make_pairs(w);
	vaddr dict[8];

	for (unsigned i = 0; i < 8; i++)
		dict[i] = world_dict(w,
				     world_keys(w, i / 4, log2_sizes[i % 4], widths[i % 4], p.keys,
						p.values, KEYS),
				     0, KEYS - 1);
	world_show(w);
	for (unsigned i = 0; i < 8; i++)
		check_pairs(w, &p, dict[i]);
}

static vaddr put_values(struct world *w, const vaddr *values, size_t count)
{
	uint32_t first = w->lay.dictvalues_values.offset;
	vaddr at = world_room(w, first + 8 * count);

	for (size_t i = 0; i < count; i++)
		world_put(w, at + first + 8 * i, values[i], 8);
	return at;
}

static void test_split(struct world *w)
{
	struct pairs p = make_pairs(w);
	vaddr keys = world_keys(w, 2, 3, 0, p.keys, NULL, KEYS);
	vaddr dict = world_dict(w, keys, put_values(w, p.values, KEYS), KEYS - 1);
	vaddr lost = world_dict(w, keys, WORLD_NOWHERE, KEYS), none = world_dict(w, keys, 0, KEYS);
	struct items k, v;
	vaddr got;

	world_show(w);
	check_pairs(w, &p, dict);
	check_pairs(w, &p, dict); /* now from what was remembered */
	CHECK_EQUAL(dict_get(&w->r, lost, "key0", &got), ERR_FAULT);
	CHECK_EQUAL(dict_items(&w->r, lost, 100, &k, &v), ERR_FAULT);
	CHECK(!k.count && !v.count);
	CHECK_EQUAL(dict_items(&w->r, none, 100, &k, &v), ERR_SHAPE);
}

static void test_mixed_keys(struct world *w)
{
	struct pairs p = make_pairs(w);
	vaddr dict, got;

	p.keys[0] = world_object(w, w->object, 16); /* no str */
	p.keys[1] = WORLD_NOWHERE; /* can't be read */
	p.keys[3] = 4; /* no object */
	dict = world_dict(w, world_keys(w, 0, 3, 0, p.keys, p.values, KEYS), 0, KEYS);
	world_show(w);
	CHECK(dict_get(&w->r, dict, "key5", &got) == ERR_OK && got == p.values[5]);
	CHECK(dict_get(&w->r, dict, "key0", &got) == ERR_OK && !got);
}

static void test_broken(struct world *w)
{
	struct pairs p = make_pairs(w);
	vaddr keys[7], bad[7], dict, got;
	struct items k, v;

	for (int i = 0; i < 7; i++)
		keys[i] = world_keys(w, 1, 3, 0, p.keys, p.values, KEYS);
	world_put_field(w, keys[0], w->lay.dictkeys_kind, 9);
	world_put_field(w, keys[1], w->lay.dictkeys_log2_size, 255);
	world_put_field(w, keys[2], w->lay.dictkeys_log2_index_bytes, 200);
	world_put_field(w, keys[3], w->lay.dictkeys_nentries, 1000); /* more than slots */
	world_put_field(w, keys[4], w->lay.dictkeys_nentries, UINT64_MAX);
	world_put_field(w, keys[5], w->lay.dictkeys_log2_size, 0);
	/* A table that claims to go far beyond what is mapped. */
	world_put_field(w, keys[6], w->lay.dictkeys_log2_size, 39);
	world_put_field(w, keys[6], w->lay.dictkeys_log2_index_bytes, 39);
	for (int i = 0; i < 7; i++)
		bad[i] = world_dict(w, keys[i], 0, KEYS);
	dict = world_dict(w, 0, 0, 5);
	world_show(w);
	for (int i = 0; i < 7; i++) {
		CHECK(dict_get(&w->r, bad[i], "key5", &got) != ERR_OK && !got);
		CHECK(dict_items(&w->r, bad[i], 100, &k, &v) != ERR_OK && !k.count);
	}
	CHECK_EQUAL(dict_get(&w->r, dict, "key0", &got), ERR_SHAPE);
	world_put_field(w, dict, w->lay.dict_keys, keys[0] + 1);
	world_show(w);
	CHECK_EQUAL(dict_get(&w->r, dict, "key0", &got), ERR_SHAPE);
	world_put_field(w, dict, w->lay.dict_keys, WORLD_NOWHERE);
	world_show(w);
	CHECK_EQUAL(dict_get(&w->r, dict, "key0", &got), ERR_FAULT);
	CHECK_EQUAL(dict_get(&w->r, p.keys[0], "key0", &got), ERR_SHAPE);
	CHECK_EQUAL(dict_get(&w->r, 0, "key0", &got), ERR_SHAPE);
}

/* An instance of a class with shared keys, its values where the version puts them. */
static vaddr put_instance(struct world *w, vaddr type, const vaddr *values, size_t count)
{
	uint32_t first = w->lay.dictvalues_values.offset, size = w->lay.object_sizeof;
	vaddr at = world_object(w, type, size + first + 8 * count), apart;

	switch (w->lay.managed) {
	case MANAGED_311:
		world_put(w, at - 32, put_values(w, values, count), 8);
		break;
	case MANAGED_312:
		apart = put_values(w, values, count);
		world_put(w, at - 24, apart - 1, 8);
		break;
	case MANAGED_313:
		world_put_field(w, at + size, w->lay.dictvalues_valid, 1);
		for (size_t i = 0; i < count; i++)
			world_put(w, at + size + first + 8 * i, values[i], 8);
		break;
	}
	return at;
}

/* mro: the type, its bases, object. */
static void put_mro(struct world *w, vaddr type, vaddr base)
{
	vaddr chain[3] = {type, base, w->object};

	world_put_field(w, type, w->lay.type_mro, world_tuple(w, chain, 3));
}

static void put_module(struct world *w, vaddr type, const char *module)
{
	vaddr key = world_str(w, "__module__"), value = world_str(w, module);

	world_put_field(w, type, w->lay.type_dict,
			world_dict(w, world_keys(w, 1, 3, 0, &key, &value, 1), 0, 1));
}

static void test_attributes(struct world *w)
{
	uint64_t flags = WORLD_HEAPTYPE | WORLD_MANAGED_DICT | WORLD_INLINE_VALUES;
	vaddr base = world_type(w, "Handle", w->object, WORLD_HEAPTYPE), slotted, made, plain, got;
	vaddr type = world_type(w, "Lock", w->object, flags), members, instance, deleted;
	struct pairs p = make_pairs(w);
	vaddr dict = world_dict(w, world_keys(w, 1, 3, 0, p.keys, p.values, KEYS), 0, KEYS - 1);
	int64_t n;

	world_put_field(w, type, w->lay.heaptype_cached_keys,
			world_keys(w, 2, 3, 0, p.keys, NULL, KEYS));
	put_mro(w, type, w->object);
	put_mro(w, base, w->object);
	instance = put_instance(w, type, p.values, KEYS);
	deleted = put_instance(w, type, (vaddr[KEYS]){0}, KEYS);
	/* A dict that was asked for stands in the place of the values. */
	made = world_object(w, type, 128);
	world_put(w, made - 24, dict, 8);
	/* Two members, the second one a slot. */
	members = world_room(w, 3 * 40);
	world_put(w, members, world_bytes(w, "number", 7), 8);
	world_put(w, members + 8, 1, 4);
	world_put(w, members + 40, world_bytes(w, "_when", 6), 8);
	world_put(w, members + 48, 16, 4);
	world_put(w, members + 56, 24, 8);
	world_put_field(w, base, w->lay.type_members, members);
	slotted = world_object(w, base, 64);
	world_put(w, slotted + 24, p.values[0], 8);
	/* A dict at an offset of its own. */
	plain = world_type(w, "Plain", w->object, WORLD_HEAPTYPE);
	world_put_field(w, plain, w->lay.type_dictoffset, 16);
	plain = world_object(w, plain, 32);
	world_put(w, plain + 16, dict, 8);
	world_show(w);

	for (int again = 0; again < 2; again++) {
		CHECK_EQUAL(attr_get(&w->r, instance, "key5", &got), ERR_OK);
		CHECK_EQUAL(got, p.values[5]);
		CHECK(attr_get(&w->r, instance, "key2", &got) == ERR_OK && !got);
		CHECK(attr_get(&w->r, instance, "absent", &got) == ERR_OK && !got);
		CHECK(attr_get(&w->r, deleted, "key5", &got) == ERR_OK && !got);
		CHECK(attr_get(&w->r, made, "key1", &got) == ERR_OK && got == p.values[1]);
		CHECK(attr_get(&w->r, slotted, "_when", &got) == ERR_OK && got == p.values[0]);
		CHECK(attr_get(&w->r, slotted, "number", &got) == ERR_OK && !got);
		CHECK(attr_get(&w->r, plain, "key4", &got) == ERR_OK && got == p.values[4]);
	}
	CHECK_EQUAL(attr_long(&w->r, instance, "absent", &n), ERR_SHAPE);
	CHECK_EQUAL(attr_long(&w->r, instance, "key0", &n), ERR_SHAPE);
	CHECK_EQUAL(attr_get(&w->r, 0, "key0", &got), ERR_SHAPE);
	CHECK_EQUAL(attr_get(&w->r, WORLD_NOWHERE, "key0", &got), ERR_FAULT);
}

static void test_types(struct world *w)
{
	vaddr c_task = world_type(w, "_asyncio.Task", w->object, WORLD_HEAPTYPE);
	vaddr sub = world_type(w, "MyTask", c_task, WORLD_HEAPTYPE);
	vaddr python = world_type(w, "Task", w->object, WORLD_HEAPTYPE), mixed, other, str, ring[2],
	      knot[2];
	const struct type_info *t;

	put_module(w, python, "asyncio.tasks");
	/* class mixed(Mixin, Task): tp_base is the mixin. */
	mixed = world_type(w, "Mixed", world_type(w, "Mixin", w->object, WORLD_HEAPTYPE),
			   WORLD_HEAPTYPE);
	put_mro(w, mixed, python);
	put_module(w, mixed, "app");
	other = world_type(w, "Task", w->object, WORLD_HEAPTYPE);
	put_module(w, other, "app.jobs");
	/* Two types whose tp_mro is an instance of the other one: no end, if one looked into each. */
	for (int i = 0; i < 2; i++)
		knot[i] = world_type(w, "Knot", w->object, WORLD_HEAPTYPE);
	for (int i = 0; i < 2; i++)
		world_put_field(w, knot[i], w->lay.type_mro, world_object(w, knot[1 - i], 64));
	str = world_type(w, "str", w->object, WORLD_HEAPTYPE); /* a class statement's */
	ring[0] = world_type(w, "A", w->object, WORLD_HEAPTYPE);
	ring[1] = world_type(w, "B", ring[0], WORLD_HEAPTYPE);
	world_put_field(w, ring[0], w->lay.type_base, ring[1]);
	world_show(w);

	CHECK(type_read(&w->r, c_task, &t) == ERR_OK && t->kind == TYPE_C_TASK);
	CHECK(str_is(t->name, "Task") && str_is(t->module, "_asyncio"));
	CHECK(type_read(&w->r, sub, &t) == ERR_OK && t->kind == TYPE_C_TASK);
	CHECK(str_is(t->name, "MyTask") && !t->module.ptr);
	CHECK(type_read(&w->r, python, &t) == ERR_OK && t->kind == TYPE_PY_TASK);
	CHECK(type_read(&w->r, mixed, &t) == ERR_OK && t->kind == TYPE_PY_TASK);
	CHECK(type_is(&w->r, t, "asyncio.tasks", "Task") && type_is(&w->r, t, "app", "Mixed"));
	CHECK(!type_is(&w->r, t, "asyncio.tasks", "Mixed"));
	CHECK(type_read(&w->r, other, &t) == ERR_OK && t->kind == TYPE_OTHER);
	CHECK(str_is(t->module, "app.jobs"));
	CHECK(type_read(&w->r, str, &t) == ERR_OK && t->kind == TYPE_OTHER);
	CHECK(type_read(&w->r, w->str, &t) == ERR_OK && t->kind == TYPE_STR);
	CHECK(type_read(&w->r, knot[0], &t) == ERR_OK && t->kind == TYPE_OTHER);
	CHECK(!type_is(&w->r, t, "app", "Knot"));
	CHECK_EQUAL(type_read(&w->r, ring[0], &t), ERR_BOUND);
	CHECK_EQUAL(type_read(&w->r, sub + 4, &t), ERR_SHAPE);
	CHECK_EQUAL(type_read(&w->r, 0, &t), ERR_SHAPE);
	/* An object that is no type: its type has no TYPE_SUBCLASS flag. */
	world_put_field(w, sub, w->lay.object_type, w->dict);
	world_show(w);
	CHECK_EQUAL(type_read(&w->r, sub, &t), ERR_SHAPE);
}

static void test_weakset(struct world *w)
{
	enum {
		SLOTS = 8
	};
	vaddr type = world_type(w, "WeakSet", w->object,
				WORLD_HEAPTYPE | WORLD_MANAGED_DICT | WORLD_INLINE_VALUES);
	vaddr reference = world_type(w, "weakref.ReferenceType", w->object, 0);
	vaddr key = world_str(w, "data"), none = world_object(w, w->none, 16), live[2], at;
	vaddr table = world_room(w, SLOTS * 16), weak[5], set;
	struct items got;

	live[0] = world_object(w, w->object, 16);
	live[1] = world_object(w, w->object, 16);
	for (uint64_t i = 0; i < 5; i++) {
		weak[i] = world_object(w, i == 3 ? w->object : reference, 64);
		world_put(w, table + 16 * i, weak[i], 8);
		world_put(w, table + 16 * i + 8, i, 8);
	}
	world_put_field(w, weak[0], w->lay.weakref_object, live[0]);
	world_put_field(w, weak[1], w->lay.weakref_object, none);
	world_put_field(w, weak[2], w->lay.weakref_object, live[1]);
	set = world_object(w, world_type(w, "set", w->object, 0), 200);
	world_put_field(w, set, w->lay.set_table, table);
	world_put_field(w, set, w->lay.set_mask, SLOTS - 1);
	world_put_field(w, set, w->lay.set_used, 5);
	world_put_field(w, type, w->lay.heaptype_cached_keys,
			world_keys(w, 2, 3, 0, &key, NULL, 1));
	at = put_instance(w, type, &set, 1);
	world_show(w);

	/* One is dead, one was never set, one is no weak reference: that is told. */
	CHECK_EQUAL(object_weakset(&w->r, at, 100, &got), ERR_OK);
	CHECK(got.count == 2 && got.v[0] == live[0] && got.v[1] == live[1] && got.truncated);
	CHECK_EQUAL(object_weakset(&w->r, set, 100, &got), ERR_SHAPE);
	CHECK(!got.count);
}

int main(void)
{
	static void (*const tests[])(struct world * w) = {
		test_kinds_and_widths, test_split, test_mixed_keys, test_broken,
		test_attributes,       test_types, test_weakset,
	};

	for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
		for (size_t t = 0; t < sizeof(tests) / sizeof(tests[0]); t++) {
			struct world *w = world_create(versions[v]);

			tests[t](w);
			world_destroy(w);
		}
	}
	return check_result("dicts");
}
