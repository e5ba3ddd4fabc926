/* SPDX-License-Identifier: Apache-2.0 */
/* How the model's tables grow: for the files of model/ alone. */
#ifndef AIOTRACE_MODEL_ROWS_H
#define AIOTRACE_MODEL_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Room for one more row: the table, moved perhaps; NULL on no memory. */
void *rows_grown(void *v, uint32_t count, uint32_t *capacity, size_t size);

/* Index of a fresh row of the table, zeroed; NONE on no memory. */
#define ROW_ADD(m, table)                                                                        \
	({                                                                                       \
		typeof((table)->v) v_ =                                                          \
			rows_grown((table)->v, (table)->count, &(table)->capacity, sizeof(*v_)); \
		uint32_t row_ = NONE;                                                            \
		if (v_) {                                                                        \
			(table)->v = v_;                                                         \
			row_ = (table)->count++;                                                 \
			memset(&v_[row_], 0, sizeof(*v_));                                       \
		} else {                                                                         \
			(m)->out_of_memory = true;                                               \
		}                                                                                \
		row_;                                                                            \
	})

#endif
