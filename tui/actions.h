/* SPDX-License-Identifier: Apache-2.0 */
/* Actions on the state, for what turns keys, letters of a prompt and the mouse into them (input.c). */
#ifndef AIOTRACE_TUI_ACTIONS_H
#define AIOTRACE_TUI_ACTIONS_H

#include "tui/ui.h"

/* A set of enum react. */
unsigned ui_act(struct ui *u, const struct scene *s, enum action a);
/* A row of the present list, where it has rows to select. */
void ui_select(struct ui *u, uint32_t row);
/* To the first row of the overview from the selected one on (or from the next) that has what is searched. */
void ui_search(struct ui *u, const struct scene *s, bool next);
/* Selection or first line. */
void ui_move(struct ui *u, int64_t by);

#endif
