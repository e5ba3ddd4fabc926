/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row a minor version: its generated tables, and how it behaves where that differs (the enums; their sources are named in layout.h).
 * A new minor: generate its table, add its row.
 */
#include "unwind/layout/table.h"
#include "unwind/layout/rows.h"
#include "unwind/layout/table_3_11.h"
#include "unwind/layout/table_3_12.h"
#include "unwind/layout/table_3_13.h"
#include "unwind/layout/table_3_14.h"
#include "unwind/layout/table_3_15.h"

#include <string.h>

/* A table that was made from an older fields.def has no say on the new rows. */
_Static_assert(TABLE_3_11_ROWS == LAYOUT_ROW_COUNT,
	       "generate table_3_11.h again (tools/layoutgen)");
_Static_assert(TABLE_3_12_ROWS == LAYOUT_ROW_COUNT,
	       "generate table_3_12.h again (tools/layoutgen)");
_Static_assert(TABLE_3_13_ROWS == LAYOUT_ROW_COUNT,
	       "generate table_3_13.h again (tools/layoutgen)");
_Static_assert(TABLE_3_14_ROWS == LAYOUT_ROW_COUNT,
	       "generate table_3_14.h again (tools/layoutgen)");
_Static_assert(TABLE_3_15_ROWS == LAYOUT_ROW_COUNT,
	       "generate table_3_15.h again (tools/layoutgen)");

#define NONE	127
#define NO_TAGS UINT64_MAX
#define TAGS_2	(~UINT64_C(3)) /* Include/internal/pycore_stackref.h: two low bits */

/* Frame-state numbers in the order of enum gen_state: Include/internal/pycore_frame.h. */
/* clang-format off */
#define STATES_3_11 {-2, -1, NONE, 0, 1, 4, NONE, NONE}
#define STATES_3_13 {-3, -2, -1, 0, 1, 4, NONE, NONE}
#define STATES_3_15 {0, 1, 2, 4, NONE, 5, NONE, NONE}
/* clang-format on */

static const struct minor {
	unsigned version;
	const struct layout *release, *debug;
	struct layout behaviour; /* the enums only */
} minors[] = {
	{0x030b,
	 &table_3_11_release,
	 &table_3_11_debug,
	 {.linetable = LINETABLE_311,
	  .await = AWAIT_RESUME_OPARG,
	  .managed = MANAGED_311,
	  .all_tasks = TASKS_WEAKSET,
	  .running_loop = RUNNING_LOOP_HOLDER,
	  .gil_in_runtime = true,
	  .gen_states = STATES_3_11,
	  .gen_state_suspended_locked = NONE,
	  .owner_generator = 1,
	  .owner_skip_from = 3,
	  .resume_opcodes = {151, 150}, /* RESUME, RESUME_QUICK */
	  .stackref_mask = NO_TAGS}},
	{0x030c,
	 &table_3_12_release,
	 &table_3_12_debug,
	 {.linetable = LINETABLE_311,
	  .await = AWAIT_RESUME_OPARG,
	  .managed = MANAGED_312,
	  .all_tasks = TASKS_SCHEDULED,
	  .running_loop = RUNNING_LOOP_DICT,
	  .gen_states = STATES_3_11,
	  .gen_state_suspended_locked = NONE,
	  .owner_generator = 1,
	  .owner_skip_from = 3,
	  .resume_opcodes = {151, 240}, /* RESUME, INSTRUMENTED_RESUME */
	  .stackref_mask = NO_TAGS,
	  .lazy_task_names = true}},
	{0x030d,
	 &table_3_13_release,
	 &table_3_13_debug,
	 {.linetable = LINETABLE_311,
	  .await = AWAIT_FRAME_STATE,
	  .managed = MANAGED_313,
	  .all_tasks = TASKS_SCHEDULED,
	  .running_loop = RUNNING_LOOP_THREAD,
	  .gen_states = STATES_3_13,
	  .gen_state_suspended_locked = NONE,
	  .owner_generator = 1,
	  .owner_skip_from = 3,
	  .stackref_mask = NO_TAGS,
	  .lazy_task_names = true}},
	{0x030e,
	 &table_3_14_release,
	 &table_3_14_debug,
	 {.linetable = LINETABLE_311,
	  .await = AWAIT_FRAME_STATE,
	  .managed = MANAGED_313,
	  .all_tasks = TASKS_LINKED,
	  .running_loop = RUNNING_LOOP_THREAD,
	  .gen_states = STATES_3_13,
	  .gen_state_suspended_locked = NONE,
	  .owner_generator = 1,
	  .owner_skip_from = 3,
	  .stackref_mask = TAGS_2,
	  .lazy_task_names = true}},
	{0x030f,
	 &table_3_15_release,
	 &table_3_15_debug,
	 {.linetable = LINETABLE_311,
	  .await = AWAIT_UNDER_INDEX,
	  .managed = MANAGED_313,
	  .all_tasks = TASKS_LINKED,
	  .running_loop = RUNNING_LOOP_THREAD,
	  .gen_states = STATES_3_15,
	  .gen_state_suspended_locked = 3,
	  .owner_generator = 1,
	  .owner_skip_from = 3,
	  .stackref_mask = TAGS_2,
	  .lazy_task_names = true}},
};

#define MINOR_COUNT (sizeof(minors) / sizeof(minors[0]))

enum version_support layout_version_support(uint32_t version)
{
	if (layout_minor(version) < minors[0].version)
		return VERSION_OLD;
	return layout_minor(version) > minors[MINOR_COUNT - 1].version ? VERSION_NEW
								       : VERSION_SUPPORTED;
}

static void copy_rows(struct layout *lay, const struct layout *from)
{
	for (size_t i = 0; i < LAYOUT_ROW_COUNT; i++) {
		const struct layout_row *row = &layout_rows[i];

		if (row->member)
			*row_field(lay, row) = *row_field_const(from, row);
		else
			*row_size(lay, row) = row_size_const(from, row);
	}
}

bool layout_table_fill(struct layout *lay)
{
	for (size_t i = 0; i < MINOR_COUNT; i++) {
		const struct layout *b = &minors[i].behaviour;

		if (minors[i].version != layout_minor(lay->version))
			continue;
		copy_rows(lay, lay->debug ? minors[i].debug : minors[i].release);
		lay->linetable = b->linetable;
		lay->await = b->await;
		lay->managed = b->managed;
		lay->all_tasks = b->all_tasks;
		lay->running_loop = b->running_loop;
		lay->gil_in_runtime = b->gil_in_runtime;
		memcpy(lay->gen_states, b->gen_states, sizeof(lay->gen_states));
		lay->gen_state_suspended_locked = b->gen_state_suspended_locked;
		lay->owner_generator = b->owner_generator;
		lay->owner_skip_from = b->owner_skip_from;
		memcpy(lay->resume_opcodes, b->resume_opcodes, sizeof(lay->resume_opcodes));
		lay->stackref_mask = b->stackref_mask;
		lay->lazy_task_names = b->lazy_task_names;
		return true;
	}
	return false;
}
