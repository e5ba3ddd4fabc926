/* SPDX-License-Identifier: Apache-2.0 */
/* fields.def expanded to names and places. */
#include "unwind/layout/rows.h"

#define FIELD(group, name, type, member) \
	{#group, #name, type, member, offsetof(struct layout, group##_##name)},
#define SIZE(group, name, type) \
	{#group, #name, type, NULL, offsetof(struct layout, group##_##name)},
const struct layout_row layout_rows[LAYOUT_ROW_COUNT] = {
#include "unwind/layout/fields.def"
};
#undef FIELD
#undef SIZE

void layout_clear_rows(struct layout *lay)
{
	for (size_t i = 0; i < LAYOUT_ROW_COUNT; i++) {
		const struct layout_row *row = &layout_rows[i];

		if (row->member)
			*row_field(lay, row) = (struct field){.offset = FIELD_ABSENT};
		else
			*row_size(lay, row) = 0;
	}
}
