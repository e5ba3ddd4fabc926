/* SPDX-License-Identifier: Apache-2.0 */
/* The three line-table formats of Objects/codeobject.c (Objects/lnotab_notes.txt, Objects/locations.md there), decoded without trusting a byte. */
#include "unwind/python/python.h"

#define CODE_UNIT 2

/* Lines are summed up from hostile steps: what does not fit a line number is no line. */
static int32_t line_or_none(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (int32_t)line : 0;
}

/* 3.9: pairs (bytes forward, signed lines); a pair counts from the address it leads to. */
static int32_t lnotab_line(const uint8_t *table, uint32_t len, int64_t line, int64_t addr)
{
	int64_t at = 0;

	for (uint32_t i = 0; i + 1 < len; i += 2) {
		at += table[i];
		if (at > addr)
			break;
		line += (int8_t)table[i + 1];
	}
	return line_or_none(line);
}

/* 3.10: pairs (length in bytes, signed lines); the line holds for that range; -128: the range has none. */
static int32_t ranges_line(const uint8_t *table, uint32_t len, int64_t line, int64_t addr)
{
	int64_t end = 0;

	for (uint32_t i = 0; i + 1 < len; i += 2) {
		int8_t step = (int8_t)table[i + 1];

		end += table[i];
		if (step != -128)
			line += step;
		if (addr < end)
			return step == -128 ? 0 : line_or_none(line);
	}
	return 0;
}

/* Six bits a byte, least significant first; bit 6 says that more follow. False: cut short or too long. */
static bool varint_read(const uint8_t *table, uint32_t len, uint32_t *at, uint32_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 36; shift += 6) {
		uint8_t b;

		if (*at >= len)
			return false;
		b = table[(*at)++];
		if (b & 0x80) /* begins the next entry */
			return false;
		value |= (uint64_t)(b & 63) << shift;
		if (!(b & 64)) {
			*ret = (uint32_t)value;
			return value <= UINT32_MAX;
		}
	}
	return false;
}

enum {
	LOCATION_ONE_LINE = 10,
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15
};

/* Lines that an entry steps: by its code, or a signed varint after it. */
static bool location_step(const uint8_t *table, uint32_t len, uint32_t at, unsigned code,
			  int64_t *ret)
{
	uint32_t value;

	*ret = 0;
	if (code == LOCATION_NO_COLUMNS || code == LOCATION_LONG) {
		if (!varint_read(table, len, &at, &value))
			return false;
		*ret = value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
	} else if (code >= LOCATION_ONE_LINE && code < LOCATION_NO_COLUMNS) {
		*ret = code - LOCATION_ONE_LINE;
	}
	return true;
}

/* 3.11 on: entries of a head byte (bit 7, four bits of code, length in code units less one) and what the code asks for. */
static int32_t locations_line(const uint8_t *table, uint32_t len, int64_t line, int64_t addr)
{
	int64_t end = 0;

	for (uint32_t i = 0; i < len;) {
		unsigned code = table[i] >> 3 & 15;
		int64_t step;

		if (!(table[i] & 0x80))
			return 0;
		end += ((table[i] & 7) + 1) * CODE_UNIT;
		i++;
		if (!location_step(table, len, i, code, &step))
			return 0;
		line += step;
		if (addr < end)
			return code == LOCATION_NONE ? 0 : line_or_none(line);
		while (i < len && !(table[i] & 0x80))
			i++;
	}
	return 0;
}

int32_t linetable_line(enum linetable_format format, const uint8_t *table, uint32_t len,
		       int32_t firstlineno, int64_t addr)
{
	if (addr < 0)
		return firstlineno;
	switch (format) {
	case LINETABLE_LNOTAB:
		return lnotab_line(table, len, firstlineno, addr);
	case LINETABLE_310:
		return ranges_line(table, len, firstlineno, addr);
	case LINETABLE_311:
		return locations_line(table, len, firstlineno, addr);
	}
	return 0;
}
