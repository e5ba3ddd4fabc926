/* SPDX-License-Identifier: Apache-2.0 */
/* int, bool, float, None (Include/cpython/longintrepr.h: 30-bit digits, least significant first). */
#include "unwind/object/internal.h"

#define DIGIT_BITS 30u
#define DIGITS_MAX 3u /* more don't fit into 64 bits */

/* Number of digits and sign: ob_size is both up to 3.11, later a tag of its own (lv_tag: digits * 8 + 0 positive, 1 zero, 2 negative). */
static enum err long_size(struct reader *r, vaddr at, uint64_t *digits_ret, bool *negative_ret)
{
	const struct layout *lay = r->lay;
	int64_t size;
	uint64_t tag;
	enum err err;

	if (field_present(lay->long_tag)) {
		err = read_uint(r, at, lay->long_tag, &tag);
		if (err != ERR_OK)
			return err;
		if ((tag & 3) == 3)
			return ERR_SHAPE;
		*digits_ret = (tag & 3) == 1 ? 0 : tag >> 3;
		*negative_ret = (tag & 3) == 2;
		return ERR_OK;
	}
	err = read_int(r, at, lay->var_size, &size);
	if (err != ERR_OK)
		return err;
	*negative_ret = size < 0;
	*digits_ret = size < 0 ? 0 - (uint64_t)size : (uint64_t)size;
	return ERR_OK;
}

static enum err long_value(struct reader *r, vaddr at, int64_t *ret)
{
	uint32_t digit[DIGITS_MAX];
	uint64_t count, value = 0;
	bool negative;
	enum err err = long_size(r, at, &count, &negative);

	if (err != ERR_OK)
		return err;
	if (count > DIGITS_MAX)
		return ERR_BOUND;
	err = mem_read(r->mem, at + r->lay->long_digit.offset, digit, count * sizeof(digit[0]));
	if (err != ERR_OK)
		return err;
	for (uint64_t i = count; i-- > 0;) {
		if (digit[i] >> DIGIT_BITS)
			return ERR_SHAPE;
		if (value >> (64 - DIGIT_BITS))
			return ERR_BOUND;
		value = value << DIGIT_BITS | digit[i];
	}
	if (value > (uint64_t)INT64_MAX + negative)
		return ERR_BOUND;
	*ret = negative ? (int64_t)(0 - value) : (int64_t)value;
	return ERR_OK;
}

enum err object_long(struct reader *r, vaddr at, int64_t *ret)
{
	const struct type_info *t;
	enum err err = type_of(r, at, &t);

	if (err != ERR_OK)
		return err;
	if (t->kind != TYPE_INT && t->kind != TYPE_BOOL)
		return ERR_SHAPE;
	return long_value(r, at, ret);
}

enum err object_float(struct reader *r, vaddr at, double *ret)
{
	const struct type_info *t;
	int64_t whole;
	enum err err = type_of(r, at, &t);

	if (err != ERR_OK)
		return err;
	if (t->kind == TYPE_FLOAT)
		return mem_read(r->mem, at + r->lay->float_value.offset, ret, sizeof(*ret));
	err = object_long(r, at, &whole);
	if (err == ERR_OK)
		*ret = (double)whole;
	return err;
}

enum err object_bool(struct reader *r, vaddr at, bool *ret)
{
	const struct type_info *t;
	uint64_t digits;
	bool negative;
	enum err err = type_of(r, at, &t);

	if (err != ERR_OK)
		return err;
	if (t->kind == TYPE_NONE) {
		*ret = false;
		return ERR_OK;
	}
	if (t->kind != TYPE_INT && t->kind != TYPE_BOOL)
		return ERR_SHAPE;
	err = long_size(r, at, &digits, &negative);
	if (err == ERR_OK)
		*ret = digits != 0;
	return err;
}

bool object_is_none(struct reader *r, vaddr at)
{
	return object_expect(r, at, TYPE_NONE, NULL) == ERR_OK;
}
