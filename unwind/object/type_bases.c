/* SPDX-License-Identifier: Apache-2.0 */
/* Questions whose answer may lie in a base of a type: is it one of those, and where is a slot. Answered once a walk. */
#include "unwind/object/internal.h"

#define TYPE_MRO_MAX	 256u
#define TYPE_MEMBERS_MAX 1024u

/* PyMemberDef of Include/descrobject.h: the same in all versions. */
enum {
	MEMBER_NAME = 0,
	MEMBER_TYPE = 8,
	MEMBER_OFFSET = 16,
	MEMBER_SIZE = 40
};
enum {
	MEMBER_OBJECT = 6,
	MEMBER_OBJECT_EX = 16
};

enum err type_mro_read(struct reader *r, vaddr type, struct items *ret)
{
	vaddr mro;
	enum err err = read_ptr(r, type, r->lay->type_mro, &mro);

	*ret = (struct items){0};
	if (err != ERR_OK || !mro)
		return err;
	return object_tuple(r, mro, TYPE_MRO_MAX, ret);
}

static bool type_named(const struct type_info *t, const char *module, const char *name)
{
	return str_is(t->name, name) && str_is(t->module, module);
}

bool type_is(struct reader *r, const struct type_info *t, const char *module, const char *name)
{
	uint64_t hash = name_hash(module) * 31 + name_hash(name);
	struct memo *m = memo_find(type_cache_memo(r->types), t->at, hash, MEMO_TYPE_IS);
	struct items mro;
	bool found = type_named(t, module, name);
	enum err err;

	if (m)
		return m->value > 0;
	if (found)
		return true;
	err = type_mro_read(r, t->at, &mro);
	for (uint32_t i = 0; err == ERR_OK && !found && i < mro.count; i++) {
		const struct type_info *base;

		err = type_read(r, mro.v[i], &base);
		found = err == ERR_OK && type_named(base, module, name);
	}
	if (err == ERR_OK) {
		m = memo_add(type_cache_memo(r->types), t->at, hash, MEMO_TYPE_IS);
		if (m)
			m->value = found;
	}
	return found;
}

/* A member descriptor of this very type: offset, or -1. */
static enum err members_find(struct reader *r, vaddr type, const char *slot, int32_t *ret)
{
	vaddr members;
	enum err err = read_ptr(r, type, r->lay->type_members, &members);

	*ret = -1;
	if (err != ERR_OK || !members)
		return err;
	for (uint32_t i = 0; i < TYPE_MEMBERS_MAX; i++) {
		vaddr at = members + (vaddr)i * MEMBER_SIZE, name;
		uint64_t offset;
		uint32_t kind;

		if ((err = read_u64(r, at + MEMBER_NAME, &name)) != ERR_OK)
			return err;
		if (!name)
			return ERR_OK;
		if (!c_string_is(r, name, slot))
			continue;
		if ((err = read_u32(r, at + MEMBER_TYPE, &kind)) != ERR_OK ||
		    (err = read_u64(r, at + MEMBER_OFFSET, &offset)) != ERR_OK)
			return err;
		if ((kind != MEMBER_OBJECT && kind != MEMBER_OBJECT_EX) || offset > INT32_MAX ||
		    offset % POINTER_SIZE)
			return ERR_SHAPE;
		*ret = (int32_t)offset;
		return ERR_OK;
	}
	return ERR_BOUND;
}

enum err type_slot(struct reader *r, const struct type_info *t, const char *slot, uint32_t *ret)
{
	uint64_t hash = name_hash(slot);
	struct memo *m = memo_find(type_cache_memo(r->types), t->at, hash, MEMO_SLOT);
	int32_t offset = -1;
	struct items mro;
	enum err err = ERR_OK;

	if (m) {
		offset = m->value;
	} else {
		err = type_mro_read(r, t->at, &mro);
		for (uint32_t i = 0; err == ERR_OK && offset < 0 && i < mro.count; i++)
			err = members_find(r, mro.v[i], slot, &offset);
		if (err == ERR_OK)
			m = memo_add(type_cache_memo(r->types), t->at, hash, MEMO_SLOT);
		if (err == ERR_OK && m)
			m->value = offset;
	}
	if (err != ERR_OK)
		return err;
	if (offset < 0)
		return ERR_SHAPE;
	*ret = (uint32_t)offset;
	return ERR_OK;
}
