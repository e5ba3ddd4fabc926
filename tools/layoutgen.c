/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes unwind/layout/table_X_Y.h from the debug information of real builds: the executable (or libpython) and the extension modules _asyncio,
 * _collections and _functools where they are files of their own.
 *
 *	layoutgen 3.13 [--root DIR] release FILE... [debug FILE...]
 *	layoutgen --check PID [debug-offsets|table|dwarf]
 *
 * --root: where usr/lib/debug lies for files that have their debug information apart. --check: what layout_find says of a running process.
 */
#include "unwind/layout/from_dwarf.h"
#include "unwind/layout/rows.h"
#include "unwind/layout/table.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool add_file(struct dwarf_types *types, const char *path, const char *root)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum err r = fd < 0 ? ERR_SYSTEM : dwarf_types_add(types, fd, root);

	if (fd >= 0)
		close(fd);
	if (r)
		fprintf(stderr, "layoutgen: %s: %s\n", path,
			fd < 0 ? "can't be opened" : "no debug information");
	return !r;
}

/* One variant: all files up to the next word "debug", or the end. */
static bool read_variant(int argc, char **argv, int *at, const char *root, struct layout *ret)
{
	struct dwarf_types *types = NULL;
	bool good = dwarf_types_create(&types) == ERR_OK;

	layout_clear_rows(ret);
	for (; good && *at < argc && strcmp(argv[*at], "debug") != 0; (*at)++)
		good = add_file(types, argv[*at], root);
	for (size_t i = 0; good && i < LAYOUT_ROW_COUNT; i++) {
		if (!dwarf_types_fill_row(types, ret, i))
			fprintf(stderr, "layoutgen: note: no structure %s\n", layout_rows[i].type);
	}
	dwarf_types_destroy(types);
	return good;
}

static void print_variant(const struct layout *lay, const char *minor, const char *variant)
{
	printf("static const struct layout table_%s_%s = {\n", minor, variant);
	for (size_t i = 0; i < LAYOUT_ROW_COUNT; i++) {
		const struct layout_row *row = &layout_rows[i];
		const struct field *f;

		if (!row->member) {
			printf("\t.%s_%s = %u,\n", row->group, row->name, row_size_const(lay, row));
			continue;
		}
		f = row_field_const(lay, row);
		if (!field_present(*f))
			printf("\t.%s_%s = {.offset = FIELD_ABSENT},\n", row->group, row->name);
		else
			printf("\t.%s_%s = {%u, %u, %u, %u},\n", row->group, row->name, f->offset,
			       f->size, f->bit, f->bits);
	}
	printf("};\n");
}

/* Rows that are not as the table of that version and build has them. */
static void print_differences(const struct layout *lay)
{
	static struct layout table;

	table = *lay;
	if (!layout_table_fill(&table))
		return;
	for (size_t i = 0; i < LAYOUT_ROW_COUNT; i++) {
		const struct layout_row *row = &layout_rows[i];

		if (!row->member && row_size_const(lay, row) != row_size_const(&table, row))
			printf("\t%s.%s: %u, table %u\n", row->group, row->name,
			       row_size_const(lay, row), row_size_const(&table, row));
		if (row->member && memcmp(row_field_const(lay, row), row_field_const(&table, row),
					  sizeof(struct field)) != 0)
			printf("\t%s.%s: %u, table %u\n", row->group, row->name,
			       row_field_const(lay, row)->offset,
			       row_field_const(&table, row)->offset);
	}
}

static int check(const char *pid_text, const char *source)
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
		fprintf(stderr, "layoutgen: %s\n", e.text);
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

static int usage(void)
{
	fprintf(stderr, "usage: layoutgen X.Y [--root DIR] release FILE... [debug FILE...]\n"
			"       layoutgen --check PID [debug-offsets|table|dwarf]\n");
	return 2;
}

int main(int argc, char **argv)
{
	static struct layout release, debug;
	const char *root = "";
	char minor[16];
	int at = 2;

	if ((argc == 3 || argc == 4) && !strcmp(argv[1], "--check"))
		return check(argv[2], argv[3]);
	if (argc < 4 || strlen(argv[1]) >= sizeof(minor))
		return usage();
	strcpy(minor, argv[1]);
	if (strchr(minor, '.'))
		*strchr(minor, '.') = '_';
	if (!strcmp(argv[at], "--root") && at + 1 < argc) {
		root = argv[at + 1];
		at += 2;
	}
	if (at >= argc || strcmp(argv[at++], "release") != 0)
		return usage();
	if (!read_variant(argc, argv, &at, root, &release))
		return 1;
	printf("/* SPDX-License-Identifier: Apache-2.0 */\n"
	       "/* CPython %s: written by tools/layoutgen from debug information; do not edit. */\n"
	       "#define TABLE_%s_ROWS %d\n\n",
	       argv[1], minor, LAYOUT_ROW_COUNT);
	print_variant(&release, minor, "release");
	if (at < argc) {
		at++; /* the word "debug" */
		if (!read_variant(argc, argv, &at, root, &debug))
			return 1;
		printf("\n");
		if (memcmp(&release, &debug, sizeof(debug)) == 0)
			printf("#define table_%s_debug table_%s_release\n", minor, minor);
		else
			print_variant(&debug, minor, "debug");
	}
	return 0;
}
