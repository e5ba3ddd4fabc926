/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of instances: where an object keeps its __dict__ or the values that stand for one (Include/internal/pycore_object.h, pycore_dict.h), then
 * its __slots__. Class attributes and properties are not looked at.
 */
#include "unwind/object/internal.h"

/* Include/object.h */
#define FLAG_INLINE_VALUES ((uint64_t)1 << 2)
#define FLAG_MANAGED_DICT  ((uint64_t)1 << 4)

/* Words before the object: pycore_object.h. */
enum {
	MANAGED_DICT_BEFORE = 24,
	MANAGED_VALUES_BEFORE = 32
};

/* What stands for the __dict__: at most one of the two. */
struct instance {
	vaddr dict;
	vaddr values; /* first value of those whose keys the type has */
};

static enum err inline_values(struct reader *r, vaddr object, const struct type_info *t,
			      struct instance *ret)
{
	vaddr values = object + (vaddr)t->basicsize;
	uint64_t valid;
	enum err err;

	if (t->basicsize <= 0 || !object_plausible(values))
		return ERR_SHAPE;
	err = read_uint(r, values, r->lay->dictvalues_valid, &valid);
	if (err == ERR_OK && valid)
		ret->values = values + r->lay->dictvalues_values.offset;
	return err;
}

static enum err managed(struct reader *r, vaddr object, const struct type_info *t,
			struct instance *ret)
{
	uint32_t first = r->lay->dictvalues_values.offset;
	vaddr word, values;
	enum err err = read_u64(r, object - MANAGED_DICT_BEFORE, &word);

	if (err != ERR_OK)
		return err;
	switch (r->lay->managed) {
	case MANAGED_311:
		ret->dict = word;
		if (word)
			return ERR_OK;
		err = read_u64(r, object - MANAGED_VALUES_BEFORE, &values);
		if (err == ERR_OK && values)
			ret->values = values + first;
		return err;
	case MANAGED_312:
		if (word & 1)
			ret->values = word + 1 + first;
		else
			ret->dict = word;
		return ERR_OK;
	case MANAGED_313:
		ret->dict = word;
		if (word || !(t->flags & FLAG_INLINE_VALUES))
			return ERR_OK;
		return inline_values(r, object, t, ret);
	}
	return ERR_SHAPE;
}

static enum err instance_read(struct reader *r, vaddr object, const struct type_info *t,
			      struct instance *ret)
{
	*ret = (struct instance){0};
	if (t->flags & FLAG_MANAGED_DICT)
		return managed(r, object, t, ret);
	if (t->dictoffset > 0)
		return read_u64(r, object + (vaddr)t->dictoffset, &ret->dict);
	return ERR_OK;
}

enum err attr_get(struct reader *r, vaddr object, const char *name, vaddr *ret)
{
	const struct type_info *t;
	struct instance in = {0};
	int64_t index;
	uint32_t slot;
	enum err err = type_of(r, object, &t);

	*ret = 0;
	if (err == ERR_OK)
		err = instance_read(r, object, t, &in);
	if (err == ERR_OK && in.dict) {
		err = dict_get(r, in.dict, name, ret);
	} else if (err == ERR_OK && in.values && t->cached_keys) {
		err = shared_keys_find(r, t->cached_keys, name, &index);
		if (err == ERR_OK && index >= 0)
			err = read_u64(r, in.values + (uint64_t)index * POINTER_SIZE, ret);
	}
	if (err != ERR_OK || *ret)
		return err;
	err = type_slot(r, t, name, &slot);
	if (err == ERR_SHAPE) /* no such slot */
		return ERR_OK;
	return err == ERR_OK ? read_u64(r, object + slot, ret) : err;
}

vaddr attr_present(struct reader *r, vaddr object, const char *name)
{
	vaddr value = 0;

	if (!object || attr_get(r, object, name, &value) != ERR_OK || !value ||
	    object_is_none(r, value))
		return 0;
	return value;
}

enum err attr_long(struct reader *r, vaddr object, const char *name, int64_t *ret)
{
	vaddr value;
	enum err err = attr_get(r, object, name, &value);

	if (err != ERR_OK)
		return err;
	return value ? object_long(r, value, ret) : ERR_SHAPE;
}

enum err attr_bool(struct reader *r, vaddr object, const char *name, bool *ret)
{
	vaddr value;
	enum err err = attr_get(r, object, name, &value);

	if (err != ERR_OK)
		return err;
	return value ? object_bool(r, value, ret) : ERR_SHAPE;
}
