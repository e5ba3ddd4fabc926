/* SPDX-License-Identifier: Apache-2.0 */
/* Function by symbol table; file and line by debug information. What neither covers has no name: the nearest symbol would be a guess. */
#include "unwind/native/images.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>

#define SCOPES_MAX 1000u /* inside each other */
#define DIES_MAX   1000000u /* next to each other */

static void open_names(const struct images *s, struct image *i)
{
	char root[32];
	int fd;

	i->names_tried = true;
	if (!i->elf || elf_symbols_create(&i->symbols) != ERR_OK)
		return;
	/* What memory runs out on is a name: shown without. */
	(void)!elf_symbols_add_image(i->symbols, i->elf);
	fd = elf_file(i->elf);
	snprintf(root, sizeof(root), "/proc/%d/root", (int)s->pid);
	if (fd < 0 || dwarf_file_open(fd, root, &i->lines) != ERR_OK)
		return;
	i->lines_known = true;
	(void)!elf_symbols_add_file(i->symbols, i->lines.elf);
}

void native_names_close(struct image *i)
{
	if (i->lines_known)
		dwarf_file_close(&i->lines);
	elf_symbols_destroy(i->symbols);
}

static bool find_unit(Dwarf *dw, Dwarf_Addr at, Dwarf_Die *ret)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die child;
	uint8_t type;

	if (dwarf_addrdie(dw, at, ret))
		return true;
	/* No .debug_aranges (clang): each unit tells its own ranges. */
	while (dwarf_get_units(dw, unit, &unit, NULL, &type, ret, &child) == 0) {
		if (type == DW_UT_compile && dwarf_haspc(ret, at) > 0)
			return true;
	}
	return false;
}

static const char *file_of(Dwarf_Die *unit, Dwarf_Die *call)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word number;
	size_t count;

	if (dwarf_formudata(dwarf_attr(call, DW_AT_call_file, &attribute), &number) ||
	    dwarf_getsrcfiles(unit, &files, &count) || number >= count)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}

/* The scope right inside this one that the address is in. */
static bool scope_inside(Dwarf_Die *scope, Dwarf_Addr at, Dwarf_Die *ret)
{
	int more = dwarf_child(scope, ret);

	for (uint32_t n = 0; more == 0 && n < DIES_MAX; n++) {
		if (dwarf_haspc(ret, at) > 0)
			return true;
		more = dwarf_siblingof(ret, ret);
	}
	return false;
}

/*
 * The function is the one whose symbol covers the address: what was inlined into it counts as the line that it is called from.
 * dwarf_getscopes() would look for the origin of what was inlined, which link-time optimisation leaves in another unit, and then finds nothing.
 */
static void out_of_inlines(Dwarf_Die *unit, Dwarf_Addr at, struct native_name *ret)
{
	Dwarf_Die scope = *unit, inner;
	bool in_function = false;

	for (uint32_t depth = 0; depth < SCOPES_MAX && scope_inside(&scope, at, &inner); depth++) {
		Dwarf_Attribute attribute;
		Dwarf_Word line;
		const char *file;

		scope = inner;
		in_function |= dwarf_tag(&scope) == DW_TAG_subprogram;
		if (!in_function || dwarf_tag(&scope) != DW_TAG_inlined_subroutine)
			continue;
		file = file_of(unit, &scope);
		if (file &&
		    dwarf_formudata(dwarf_attr(&scope, DW_AT_call_line, &attribute), &line) == 0 &&
		    line <= INT32_MAX) {
			ret->file = file;
			ret->line = (int32_t)line;
		}
		return;
	}
}

static void find_line(struct image *i, Dwarf_Addr at, struct native_name *ret)
{
	Dwarf_Die unit;
	Dwarf_Line *line;
	const char *file;
	int number;

	if (!find_unit(i->lines.dw, at, &unit) || !(line = dwarf_getsrc_die(&unit, at)) ||
	    !(file = dwarf_linesrc(line, NULL, NULL)))
		return;
	ret->file = file;
	ret->line = dwarf_lineno(line, &number) == 0 && number > 0 ? number : 0;
	out_of_inlines(&unit, at, ret);
}

void native_name(struct images *s, struct image *i, vaddr pc, vaddr start, bool call,
		 struct native_name *ret)
{
	uint64_t bias;

	*ret = (struct native_name){.offset = pc - i->first->start + i->first->offset};
	if (!i->names_tried)
		open_names(s, i);
	if (!i->elf)
		return;
	bias = elf_bias(i->elf);
	ret->offset = pc - bias;
	if (i->symbols)
		ret->function =
			elf_symbols_find(i->symbols, ret->offset - call, start ? start - bias : 0);
	if (i->lines_known)
		find_line(i, ret->offset - call, ret);
}
