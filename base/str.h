/* SPDX-License-Identifier: Apache-2.0 */
/* Text as pointer and length: valid UTF-8, may hold any code point (also NUL and controls), not NUL-terminated. */
#ifndef AIOTRACE_BASE_STR_H
#define AIOTRACE_BASE_STR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *ptr; /* NULL: absent (could not be read) */
	uint32_t len; /* bytes */
};

#define STR_LIT(s) ((struct str){(s), sizeof(s) - 1})
/* for printf("%.*s") */
#define STR_ARG(s) (int)(s).len, (s).ptr ? (s).ptr : ""

static inline struct str str_from(const char *c)
{
	return (struct str){c, c ? (uint32_t)strlen(c) : 0};
}

static inline bool str_equal(struct str a, struct str b)
{
	return a.len == b.len &&
	       (a.len == 0 || (a.ptr && b.ptr && memcmp(a.ptr, b.ptr, a.len) == 0));
}

static inline bool str_is(struct str a, const char *c)
{
	return str_equal(a, str_from(c));
}

static inline bool str_ends_with(struct str a, const char *c)
{
	size_t n = strlen(c);

	return a.len >= n && memcmp(a.ptr + a.len - n, c, n) == 0;
}

static inline bool str_starts_with(struct str a, const char *c)
{
	size_t n = strlen(c);

	return a.len >= n && memcmp(a.ptr, c, n) == 0;
}

#endif
