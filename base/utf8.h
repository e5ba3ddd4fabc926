/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes from outside as UTF-8: what is none is told, or becomes U+FFFD, one for each byte. Surrogates, overlong forms and what lies above U+10FFFF are none. */
#ifndef AIOTRACE_BASE_UTF8_H
#define AIOTRACE_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that utf8_clean may write for each one that it reads. */
#define UTF8_CLEAN_GROWTH 3u

/* The next code point, -1 for a byte that is none; *at < len moves on (by one where invalid). */
int32_t utf8_decode(const char *bytes, size_t len, size_t *at);
/* Writes valid UTF-8 to `to`, which has room for UTF8_CLEAN_GROWTH * len bytes; returns how many there are. No NUL is added. */
size_t utf8_clean(char *to, const char *bytes, size_t len);
/* The longest head of valid UTF-8 that is at most `most` bytes and whole characters: its bytes. */
size_t utf8_head(const char *text, size_t len, size_t most);

#endif
