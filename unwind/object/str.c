/* SPDX-License-Identifier: Apache-2.0 */
/* Text: str of all widths (Include/cpython/unicodeobject.h), bytes, and C strings. What comes out is valid UTF-8 whatever was in the target. */
#include "base/utf8.h"
#include "unwind/object/internal.h"

#include <string.h>

#define STR_LENGTH_MAX ((uint64_t)1 << 40)
#define STR_HEAD_MAX   128u
#define STR_CHUNK      4096u /* bytes read at once; a multiple of every width */

struct str_head {
	uint64_t length; /* characters */
	uint32_t width; /* bytes of a character: 1, 2, 4 */
	vaddr data;
};

/* Length and shape of something known to be a str. */
static enum err str_head_read(struct reader *r, vaddr at, struct str_head *ret)
{
	const struct layout *lay = r->lay;
	uint64_t kind, compact, ascii;
	uint8_t buffer[STR_HEAD_MAX];
	const uint8_t *head;
	enum err err;

	if (lay->str_sizeof_ascii > sizeof(buffer))
		return ERR_SHAPE;
	head = view(r, at, lay->str_sizeof_ascii, buffer, &err);
	if (!head)
		return err;
	if (!field_decode(head, lay->str_length, &ret->length) ||
	    !field_decode(head, lay->str_kind, &kind) ||
	    !field_decode(head, lay->str_compact, &compact) ||
	    !field_decode(head, lay->str_ascii, &ascii))
		return ERR_SHAPE;
	if (kind != 1 && kind != 2 && kind != 4)
		return ERR_SHAPE;
	if (ret->length > STR_LENGTH_MAX)
		return ERR_BOUND;
	ret->width = (uint32_t)kind;
	if (!compact) /* subclasses of str: PyUnicodeObject.data follows the compact head */
		return read_u64(r, at + lay->str_sizeof_compact, &ret->data);
	ret->data = at + (ascii ? lay->str_sizeof_ascii : lay->str_sizeof_compact);
	return ERR_OK;
}

static uint32_t character_at(const uint8_t *bytes, uint32_t width, uint32_t i)
{
	uint32_t c = 0;

	memcpy(&c, bytes + (size_t)i * width, width);
	return c;
}

/* One code point as UTF-8; what is none becomes U+FFFD. At most 4 bytes; `to` may be NULL to count. */
static uint32_t utf8_put(uint32_t c, char *to)
{
	char b[4];
	uint32_t n;

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		b[0] = (char)c;
		n = 1;
	} else if (c < 0x800) {
		b[0] = (char)(0xc0 | c >> 6);
		b[1] = (char)(0x80 | (c & 63));
		n = 2;
	} else if (c < 0x10000) {
		b[0] = (char)(0xe0 | c >> 12);
		b[1] = (char)(0x80 | (c >> 6 & 63));
		b[2] = (char)(0x80 | (c & 63));
		n = 3;
	} else {
		b[0] = (char)(0xf0 | c >> 18);
		b[1] = (char)(0x80 | (c >> 12 & 63));
		b[2] = (char)(0x80 | (c >> 6 & 63));
		b[3] = (char)(0x80 | (c & 63));
		n = 4;
	}
	if (to)
		memcpy(to, b, n);
	return n;
}

/* Counts or writes `chars` characters. Reading twice is cheap (they are cached by then), but may differ when it is not the cache that answers: `room` rules. */
static enum err str_encode(struct reader *r, const struct str_head *h, uint32_t chars, char *to,
			   uint64_t room, uint64_t *len_ret)
{
	uint8_t chunk[STR_CHUNK];
	uint64_t len = 0;

	for (uint32_t done = 0; done < chars;) {
		uint32_t part = STR_CHUNK / h->width;
		enum err err;

		if (part > chars - done)
			part = chars - done;
		err = mem_read(r->mem, h->data + (vaddr)done * h->width, chunk,
			       (size_t)part * h->width);
		if (err != ERR_OK)
			return err;
		for (uint32_t i = 0; i < part; i++) {
			uint32_t c = character_at(chunk, h->width, i);
			uint32_t n = utf8_put(c, NULL);

			if (to && n > room - len)
				return ERR_TORN;
			if (to)
				utf8_put(c, to + len);
			len += n;
		}
		done += part;
	}
	*len_ret = len;
	return ERR_OK;
}

enum err object_str(struct reader *r, vaddr at, uint32_t max_chars, struct arena *to,
		    struct str *ret, bool *truncated_ret)
{
	struct str_head h;
	uint32_t chars;
	uint64_t len;
	char *text;
	enum err err = object_expect(r, at, TYPE_STR, NULL);

	if (err == ERR_OK)
		err = str_head_read(r, at, &h);
	if (err != ERR_OK)
		return err;
	chars = h.length > max_chars ? max_chars : (uint32_t)h.length;
	if (truncated_ret)
		*truncated_ret = h.length > max_chars;
	err = str_encode(r, &h, chars, NULL, 0, &len);
	if (err != ERR_OK)
		return err;
	if (len > UINT32_MAX)
		return ERR_BOUND;
	text = arena_alloc(to, len ? (size_t)len : 1);
	if (!text)
		return ERR_BOUND;
	err = str_encode(r, &h, chars, text, len, &len);
	if (err != ERR_OK)
		return err;
	*ret = (struct str){text, (uint32_t)len};
	return ERR_OK;
}

/* len bytes at `at` are these. */
static bool bytes_are(struct reader *r, vaddr at, const char *bytes, size_t len)
{
	const void *p = mem_peek(r->mem, at, len);
	char part[64];

	if (p)
		return memcmp(p, bytes, len) == 0;
	while (len) {
		size_t n = len < sizeof(part) ? len : sizeof(part);

		if (mem_read(r->mem, at, part, n) != ERR_OK || memcmp(part, bytes, n) != 0)
			return false;
		at += n;
		bytes += n;
		len -= n;
	}
	return true;
}

bool object_str_is(struct reader *r, vaddr at, const char *ascii)
{
	size_t len = strlen(ascii);
	struct str_head h;
	uint64_t length;

	/* Most strings that are asked about have another length: that is one read. */
	if (!object_plausible(at) || read_uint(r, at, r->lay->str_length, &length) != ERR_OK ||
	    length != len || object_expect(r, at, TYPE_STR, NULL) != ERR_OK ||
	    str_head_read(r, at, &h) != ERR_OK || h.length != len || h.width != 1)
		return false;
	return bytes_are(r, h.data, ascii, len);
}

bool c_string_is(struct reader *r, vaddr at, const char *text)
{
	return bytes_are(r, at, text, strlen(text) + 1);
}

enum err c_string_read(struct reader *r, vaddr at, uint32_t max, struct arena *to, struct str *ret)
{
	uint8_t raw[4096];
	uint32_t len = 0;
	char *text;

	if (max > sizeof(raw))
		max = sizeof(raw);
	while (len < max) {
		enum err err = read_u8(r, at + len, &raw[len]);

		if (err != ERR_OK)
			return err;
		if (!raw[len])
			break;
		len++;
	}
	text = arena_alloc(to, (size_t)len * UTF8_CLEAN_GROWTH + 1);
	if (!text)
		return ERR_BOUND;
	*ret = (struct str){text, (uint32_t)utf8_clean(text, (const char *)raw, len)};
	return ERR_OK;
}
