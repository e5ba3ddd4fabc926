/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes unwind/layout/table_X_Y.h from the debug information of real builds: the executable (or libpython) and the extension modules _asyncio,
 * _collections, _functools, _queue and _socket where they are files of their own.
 *
 *	layoutgen 3.13 [--root DIR] release FILE... [debug FILE...]
 *
 * --root: where usr/lib/debug lies for files that have their debug information apart.
 */
#include "unwind/layout/from_dwarf.h"
#include "unwind/layout/rows.h"

#include <fcntl.h>
#include <stdio.h>
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

static bool same_rows(const struct layout *a, const struct layout *b)
{
	for (size_t i = 0; i < LAYOUT_ROW_COUNT; i++) {
		if (!row_equal(a, b, &layout_rows[i]))
			return false;
	}
	return true;
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

static int usage(void)
{
	fprintf(stderr, "usage: layoutgen X.Y [--root DIR] release FILE... [debug FILE...]\n");
	return 2;
}

int main(int argc, char **argv)
{
	static struct layout release, debug;
	const char *root = "";
	char minor[16];
	int at = 2;

	if (argc < 4 || strlen(argv[1]) >= sizeof(minor))
		return usage();
	snprintf(minor, sizeof(minor), "%s", argv[1]);
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
		if (same_rows(&release, &debug))
			printf("#define table_%s_debug table_%s_release\n", minor, minor);
		else
			print_variant(&debug, minor, "debug");
	}
	return 0;
}
