/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of history.c that loops and findings are: for the files of the history alone. */
#ifndef AIOTRACE_TUI_HISTORY_INNER_H
#define AIOTRACE_TUI_HISTORY_INNER_H

#include "tui/history.h"

/* `when` may be later than the picture, of which it is known then that it still holds. */
void history_add_loop(struct history *h, const struct model *m, const struct loop *l, double when);
/* Once a picture. */
void history_add_watched(struct history *h, const struct loop *l);
void history_add_findings(struct history *h, const struct model *m, double when);
/* False on no memory. */
bool history_findings_copy(struct history *to, const struct history *from);
void history_findings_deinit(struct history *h);

#endif
