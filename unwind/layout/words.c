/* SPDX-License-Identifier: Apache-2.0 */
/* The target's numbers as words and texts. */
#include "unwind/layout/layout.h"

#include <stdio.h>

enum gen_state layout_gen_state(const struct layout *lay, int8_t raw)
{
	if (raw == 127)
		return GEN_UNKNOWN;
	for (int s = GEN_CREATED; s < GEN_UNKNOWN; s++) {
		if (lay->gen_states[s] == raw)
			return (enum gen_state)s;
	}
	return raw == lay->gen_state_suspended_locked ? GEN_SUSPENDED_YIELD_FROM : GEN_UNKNOWN;
}

const char *layout_source_name(enum layout_source s)
{
	switch (s) {
	case LAYOUT_DEBUG_OFFSETS:
		return "debug-offsets";
	case LAYOUT_TABLE:
		return "table";
	case LAYOUT_DWARF:
		return "dwarf";
	}
	return "unknown";
}

/* Include/patchlevel.h: major, minor, micro, then level (a, b, c, f) and serial in four bits each. */
const char *layout_version_text(const struct layout *lay, char *buffer, size_t size)
{
	uint32_t v = lay->version;
	int n = snprintf(buffer, size, "%u.%u.%u", v >> 24, v >> 16 & 0xff, v >> 8 & 0xff);
	const char *level;

	switch (v >> 4 & 0xf) {
	case 0xa:
		level = "a";
		break;
	case 0xb:
		level = "b";
		break;
	case 0xc:
		level = "rc";
		break;
	default:
		return buffer;
	}
	if (n > 0 && (size_t)n < size)
		snprintf(buffer + n, size - (size_t)n, "%s%u", level, v & 0xf);
	return buffer;
}
