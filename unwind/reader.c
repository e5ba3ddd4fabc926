/* SPDX-License-Identifier: Apache-2.0 */
/* Members of the target's structures as numbers: widths, signs and bit fields. */
#include "unwind/reader.h"

#include <string.h>

enum err read_u8(struct reader *r, vaddr at, uint8_t *ret)
{
	return mem_read(r->mem, at, ret, sizeof(*ret));
}

enum err read_u32(struct reader *r, vaddr at, uint32_t *ret)
{
	return mem_read(r->mem, at, ret, sizeof(*ret));
}

enum err read_u64(struct reader *r, vaddr at, uint64_t *ret)
{
	return mem_read(r->mem, at, ret, sizeof(*ret));
}

enum err read_ptr(struct reader *r, vaddr object, struct field f, vaddr *ret)
{
	if (!field_present(f) || f.size != sizeof(*ret))
		return ERR_SHAPE;
	return mem_read(r->mem, object + f.offset, ret, sizeof(*ret));
}

bool field_decode(const void *object, struct field f, uint64_t *ret)
{
	uint64_t word = 0;

	if (f.size != 1 && f.size != 2 && f.size != 4 && f.size != 8)
		return false;
	/* Target and we are little endian: the low bytes come first. */
	memcpy(&word, (const char *)object + f.offset, f.size);
	if (f.bits) {
		if (f.bit + f.bits > f.size * 8)
			return false;
		word >>= f.bit;
		if (f.bits < 64)
			word &= ((uint64_t)1 << f.bits) - 1;
	}
	*ret = word;
	return true;
}

int64_t field_extend(struct field f, uint64_t value)
{
	unsigned width = f.bits ? f.bits : f.size * 8u;
	unsigned spare = 64 - width;

	return (int64_t)(value << spare) >> spare;
}

enum err read_uint(struct reader *r, vaddr object, struct field f, uint64_t *ret)
{
	struct field here = f;
	uint8_t word[8];
	enum err err;

	if (!field_present(f) || !f.size || f.size > sizeof(word))
		return ERR_SHAPE;
	err = mem_read(r->mem, object + f.offset, word, f.size);
	if (err != ERR_OK)
		return err;
	here.offset = 0;
	return field_decode(word, here, ret) ? ERR_OK : ERR_SHAPE;
}

enum err read_int(struct reader *r, vaddr object, struct field f, int64_t *ret)
{
	uint64_t value;
	enum err err = read_uint(r, object, f, &value);

	if (err != ERR_OK)
		return err;
	*ret = field_extend(f, value);
	return ERR_OK;
}
