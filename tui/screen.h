/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal: shows canvases, hands out keys. It is given back as it was by screen_close, on exit, and by a crash of ours (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT).
 */
#ifndef AIOTRACE_TUI_SCREEN_H
#define AIOTRACE_TUI_SCREEN_H

#include "base/error.h"
#include "tui/canvas.h"
#include "tui/keys.h"

#include <stdbool.h>

/* Whether standard input and output are a terminal that can place its cursor; *why_ret says in words why not. */
bool screen_possible(const char **why_ret);
/* One at a time. ERR_SYSTEM. */
must_check enum err screen_open(bool color, struct error *e);
void screen_close(void); /* where none is open: nothing */
void screen_size(unsigned *width_ret, unsigned *height_ret);
void screen_draw(const struct canvas *c);
/* The next key that was pressed, without waiting; false: none. */
bool screen_key(struct press_event *ret);
/* The terminal has another size now (SIGWINCH), or may show anything (SIGCONT). */
void screen_resized(void);

#endif
