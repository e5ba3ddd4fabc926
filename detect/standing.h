/* SPDX-License-Identifier: Apache-2.0 */
/* What the detectors of waits that never end share: waits that stand over all looks, those that a time limit ends, and saying them. */
#ifndef AIOTRACE_DETECT_STANDING_H
#define AIOTRACE_DETECT_STANDING_H

#include "detect/detect.h"

/* Not done, and in every look at the same place, waiting for the same object. */
bool standing_task(const struct detection *d, const struct task *t);
/* By task row: its wait has a time limit, or that of one who waits for it, directly or not: it ends by itself. malloc'ed, caller frees. ERR_NOMEM. */
must_check enum err standing_limits(const struct model *m, bool **ret);
/* "a waits for task b at app.py:12; …": the first ones of these tasks. In the model's text. */
struct str standing_words(struct model *m, const uint32_t *rows, uint32_t count);
/* What one task waits on, "Event, not set, 1 waiting", "task b". In the model's text. */
struct str standing_wait(struct model *m, const struct task *t);
/* Where one task waits: its innermost frame that is the user's own, else the innermost; NONE. */
uint32_t standing_frame(const struct model *m, const struct task *t);

#endif
