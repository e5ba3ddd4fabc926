/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words for the eye: hostile text made harmless, widths in terminal columns, numbers, durations, colours. Nothing here knows what is reported.
 */
#ifndef AIOTRACE_REPORT_TEXT_H
#define AIOTRACE_REPORT_TEXT_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the reader's terminal can do. */
struct text_style {
	bool utf8; /* else ASCII alone, the rest as \u escapes */
	bool color;
	unsigned width; /* columns to stay within, 0: no limit */
};

enum text_color {
	COLOR_PLAIN,
	COLOR_BOLD,
	COLOR_DIM,
	COLOR_NAME,
	COLOR_WAIT,
	COLOR_GOOD,
	COLOR_WARN,
	COLOR_BAD,
};

/* A growing piece of text that is reused; valid UTF-8 goes in. On no memory, failed is set and what is added is lost. */
struct text {
	char *v;
	size_t len, capacity;
	bool failed;
};

void text_deinit(struct text *t);
void text_clear(struct text *t);
/* Trusted words, as they are. */
void text_add(struct text *t, const char *words);
void text_add_bytes(struct text *t, const char *bytes, size_t len);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_spaces(struct text *t, size_t count);
struct str text_str(const struct text *t);

/*
 * Text from outside, made printable: control and format characters (escape sequences, newlines, NUL, bidi overrides, zero-width ones), invalid bytes
 * and, without utf8, all that is not ASCII become visible escapes (\n, \x1b, \u202e); no more than four combining marks follow each other. At most
 * `columns` columns are used, the last one for an ellipsis where something was cut (without utf8: two dots). Returns the columns used.
 */
size_t text_safe(struct text *t, const struct text_style *s, struct str from, size_t columns);
/* Columns that text_safe would use. */
size_t text_width(const struct text_style *s, struct str from, size_t columns);

/* Begins a colour; COLOR_PLAIN ends it. Nothing without colours. */
void text_color(struct text *t, const struct text_style *s, enum text_color c);

/* "9,998". */
void text_number(struct text *t, uint64_t n);
/* "640 µs", "12.3 ms", "29.8 s", "3 m 12 s", "5 h 03 m", "12 d 4 h". Seconds must not be negative; NAN is "?". */
void text_duration(struct text *t, const struct text_style *s, double seconds);

/*
 * Order of names as people count: "Task-2" before "Task-10". Negative, 0, positive.
 */
int text_compare(struct str a, struct str b);

#endif
