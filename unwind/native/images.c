/* SPDX-License-Identifier: Apache-2.0 */
/* A file is mapped in several pieces; the one at its beginning has the ELF header. All is read from memory, so a file that was replaced does no harm. */
#include "unwind/native/images.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* Encodings of DWARF pointers in .eh_frame_hdr (Linux Standard Base, "Exception Frame Header"). */
#define PE_UDATA4	   0x03
#define PE_PCREL_SDATA4	   0x1b
#define PE_DATAREL_SDATA4  0x3b
#define TABLE_ENTRIES_MOST (1u << 24)

bool images_is_file(const struct map *map)
{
	return map->path[0] == '/' || strcmp(map->path, "[vdso]") == 0;
}

static bool same_file(const struct map *a, const struct map *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && strcmp(a->path, b->path) == 0;
}

/* The mapping of the file's beginning, at or before `map`; *end_ret is where its last one ends. */
static const struct map *first_map(const struct maps *maps, const struct map *map, vaddr *end_ret)
{
	const struct map *first = map;

	*end_ret = map->end;
	if (!images_is_file(map))
		return map;
	for (const struct map *m = map; m > maps->v && first->offset != 0; m--) {
		if (same_file(m - 1, map))
			first = m - 1;
	}
	for (const struct map *m = map + 1; m < maps->v + maps->count && same_file(m, map); m++) {
		if (m->offset == 0)
			break;
		*end_ret = m->end;
	}
	return first;
}

/* What linkers write: version 1, four bytes of pointer, four of count, then a table of pairs relative to the header. */
static void find_table(struct images *s, struct image *i)
{
	struct {
		uint8_t version, pointer, count_encoding, table_encoding;
		int32_t eh_frame;
		uint32_t count;
	} head;
	vaddr at;
	uint64_t size;

	if (elf_segment(i->elf, PT_GNU_EH_FRAME, &at, &size) != ERR_OK || size < sizeof(head) ||
	    mem_read(s->mem, at, &head, sizeof(head)) != ERR_OK)
		return;
	if (head.version != 1 || head.pointer != PE_PCREL_SDATA4 ||
	    head.count_encoding != PE_UDATA4 || head.table_encoding != PE_DATAREL_SDATA4 ||
	    head.count > TABLE_ENTRIES_MOST || head.count > (size - sizeof(head)) / 8)
		return;
	i->table = (struct unwind_table){at, at + sizeof(head), head.count};
}

static struct image *image_open(struct images *s, const struct map *first, vaddr end)
{
	struct image *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->first = first;
	i->end = end;
	if (images_is_file(first) && first->offset == 0 &&
	    elf_open(s->pid, s->mem, s->maps, first, &i->elf) != ERR_OK)
		i->elf = NULL;
	if (i->elf)
		find_table(s, i);
	return i;
}

struct image *images_find(struct images *s, vaddr pc)
{
	const struct map *map = maps_find(s->maps, pc), *first;
	struct image *i;
	vaddr end;

	if (!map || !map->exec)
		return NULL;
	first = first_map(s->maps, map, &end);
	for (size_t n = 0; n < s->count; n++) {
		if (s->v[n]->first == first)
			return s->v[n];
	}
	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 16;
		struct image **v = realloc(s->v, room * sizeof(struct image *));

		if (!v)
			return NULL;
		s->v = v;
		s->room = room;
	}
	i = image_open(s, first, end);
	if (i)
		s->v[s->count++] = i;
	return i;
}

void images_deinit(struct images *s)
{
	for (size_t n = 0; n < s->count; n++) {
		native_names_close(s->v[n]);
		elf_close(s->v[n]->elf);
		free(s->v[n]);
	}
	free(s->v);
	*s = (struct images){0};
}
