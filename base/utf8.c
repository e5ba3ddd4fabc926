/* SPDX-License-Identifier: Apache-2.0 */
/* Table 3-7 of the Unicode standard, by value rather than by byte. */
#include "base/utf8.h"

#include <string.h>

int32_t utf8_decode(const char *bytes, size_t len, size_t *at)
{
	static const int32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *u = (const unsigned char *)bytes + *at;
	size_t left = len - *at;
	unsigned n = u[0] < 0x80   ? 1
		     : u[0] < 0xc2 ? 0
		     : u[0] < 0xe0 ? 2
		     : u[0] < 0xf0 ? 3
		     : u[0] < 0xf5 ? 4
				   : 0;
	int32_t c;

	if (!n || n > left) {
		++*at;
		return -1;
	}
	c = n == 1 ? u[0] : u[0] & (0x7f >> n);
	for (unsigned i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80) {
			++*at;
			return -1;
		}
		c = c << 6 | (u[i] & 0x3f);
	}
	if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
		++*at;
		return -1;
	}
	*at += n;
	return c;
}

size_t utf8_clean(char *to, const char *bytes, size_t len)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t out = 0;

	for (size_t at = 0; at < len;) {
		size_t from = at;
		int32_t c = utf8_decode(bytes, len, &at);
		size_t n = c < 0 ? sizeof(replacement) - 1 : at - from;

		memcpy(to + out, c < 0 ? replacement : bytes + from, n);
		out += n;
	}
	return out;
}

size_t utf8_head(const char *text, size_t len, size_t most)
{
	if (len <= most)
		return len;
	while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
		most--;
	return most;
}
