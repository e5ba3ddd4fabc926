/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What layout_find says of a running process, and where that differs from the tables.
 *
 *	layoutcheck PID [debug-offsets|table|dwarf]
 *
 * With a source: that one alone. Exit codes as of aiotrace: 3 not supported or not readable, 4 gone.
 */
#include "unwind/layout/rows.h"
#include "unwind/layout/table.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are not as the table of that version and build has them. */
static void print_differences(const struct layout *lay)
{
	static struct layout table;

	table = *lay;
	if (!layout_table_fill(&table))
		return;
	for (size_t i = 0; i < LAYOUT_ROW_COUNT; i++) {
		const struct layout_row *row = &layout_rows[i];

		if (row_equal(lay, &table, row))
			continue;
		if (!row->member)
			printf("\t%s.%s: %u, table %u\n", row->group, row->name,
			       row_size_const(lay, row), row_size_const(&table, row));
		else
			printf("\t%s.%s: %u, table %u\n", row->group, row->name,
			       row_field_const(lay, row)->offset,
			       row_field_const(&table, row)->offset);
	}
}

static int look(const char *pid_text, const char *source)
{
	static struct layout lay;
	struct target t = {0};
	struct error e = {0};
	char version[32];
	char *end;
	long pid = strtol(pid_text, &end, 10);
	unsigned sources = source ? 0 : ~0u;
	enum err r;

	for (int s = LAYOUT_DEBUG_OFFSETS; s <= LAYOUT_DWARF; s++) {
		if (source && !strcmp(source, layout_source_name((enum layout_source)s)))
			sources = 1u << s;
	}
	if (!sources || *end || pid <= 0 || pid > INT_MAX)
		return 2;
	r = target_open((pid_t)pid, &t, &e);
	if (!r)
		r = layout_find_by(&t, sources, &lay, &e);
	if (r) {
		fprintf(stderr, "layoutcheck: %s\n", e.text);
		target_close(&t);
		return r == ERR_GONE ? 4 : 3;
	}
	printf("%s%s, %s, asyncio offsets %s, _PyRuntime 0x%lx, %s\n",
	       layout_version_text(&lay, version, sizeof(version)), lay.debug ? " debug" : "",
	       layout_source_name(lay.source), lay.asyncio_found ? "found" : "not found",
	       (unsigned long)lay.runtime, lay.python_path);
	print_differences(&lay);
	target_close(&t);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: layoutcheck PID [debug-offsets|table|dwarf]\n");
		return 2;
	}
	return look(argv[1], argv[2]);
}
