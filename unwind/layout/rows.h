/* SPDX-License-Identifier: Apache-2.0 */
/* fields.def as a table: what the providers, the checks, the generator and `doctor -v` walk. */
#ifndef AIOTRACE_UNWIND_LAYOUT_ROWS_H
#define AIOTRACE_UNWIND_LAYOUT_ROWS_H

#include "unwind/layout/layout.h"

#include <stddef.h>

struct layout_row {
	const char *group, *name; /* "task", "fut_waiter" */
	const char *type; /* spellings of CPython's structure, separated by "|" */
	const char *member; /* spellings of the path in it, likewise; NULL: the row is a sizeof */
	uint16_t at; /* where the struct field (the uint32_t for a sizeof) lies in struct layout */
};

extern const struct layout_row layout_rows[];

#define FIELD(group, name, type, member) LAYOUT_ROW_##group##_##name,
#define SIZE(group, name, type)		 LAYOUT_ROW_##group##_##name,
enum layout_row_index {
#include "unwind/layout/fields.def"
	LAYOUT_ROW_COUNT
};
#undef FIELD
#undef SIZE

static inline struct field *row_field(struct layout *lay, const struct layout_row *row)
{
	return (struct field *)(void *)((char *)lay + row->at);
}

static inline const struct field *row_field_const(const struct layout *lay,
						  const struct layout_row *row)
{
	return (const struct field *)(const void *)((const char *)lay + row->at);
}

static inline uint32_t *row_size(struct layout *lay, const struct layout_row *row)
{
	return (uint32_t *)(void *)((char *)lay + row->at);
}

static inline uint32_t row_size_const(const struct layout *lay, const struct layout_row *row)
{
	return *(const uint32_t *)(const void *)((const char *)lay + row->at);
}

static inline bool row_equal(const struct layout *a, const struct layout *b,
			     const struct layout_row *row)
{
	const struct field *x = row_field_const(a, row), *y = row_field_const(b, row);

	if (!row->member)
		return row_size_const(a, row) == row_size_const(b, row);
	return x->offset == y->offset && x->size == y->size && x->bit == y->bit &&
	       x->bits == y->bits;
}

/* Makes every field absent and every size 0. */
void layout_clear_rows(struct layout *lay);

#endif
