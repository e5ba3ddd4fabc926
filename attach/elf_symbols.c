/* SPDX-License-Identifier: Apache-2.0 */
/* Several names for one address are the rule in C libraries: the one without underscores is what people know. */
#include "attach/elf_symbols.h"

#include "attach/elf_internal.h"
#include "base/arena.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLS_MOST 4000000u
#define TABLE_MOST   ((uint64_t)256 << 20)
#define NAMES_MOST   ((size_t)512 << 20)
#define NAME_MOST    256u
/* How many symbols before an address are looked at: functions rarely lie within each other. */
#define BACK_MOST 64u

struct symbol {
	uint64_t at, size;
	const char *name;
};

struct elf_symbols {
	struct symbol *v;
	size_t count, room;
	struct arena names;
	bool sorted;
};

enum err elf_symbols_create(struct elf_symbols **ret)
{
	struct elf_symbols *s = calloc(1, sizeof(*s));

	if (!s || !arena_init(&s->names, NAMES_MOST)) {
		free(s);
		return ERR_NOMEM;
	}
	*ret = s;
	return ERR_OK;
}

void elf_symbols_destroy(struct elf_symbols *s)
{
	if (!s)
		return;
	arena_deinit(&s->names);
	free(s->v);
	free(s);
}

static bool is_function(const Elf64_Sym *y, const char *name)
{
	unsigned type = ELF64_ST_TYPE(y->st_info);

	if (y->st_shndx == SHN_UNDEF || y->st_shndx == SHN_ABS || !name[0])
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	/* Labels of assembler code; "$x" and the like mark what kind of code follows (ELF for the Arm 64-bit architecture). */
	return type == STT_NOTYPE && y->st_size == 0 && name[0] != '$' && name[0] != '.';
}

static enum err add(struct elf_symbols *s, const Elf64_Sym *y, const char *name)
{
	char text[NAME_MOST];
	size_t n = 0;

	if (!is_function(y, name))
		return ERR_OK;
	if (s->count >= SYMBOLS_MOST)
		return ERR_BOUND;
	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 1024;
		struct symbol *v = realloc(s->v, room * sizeof(*v));

		if (!v)
			return ERR_NOMEM;
		s->v = v;
		s->room = room;
	}
	for (; n < sizeof(text) - 1 && name[n]; n++)
		text[n] = name[n] > 0x20 && name[n] < 0x7f ? name[n] : '?';
	text[n] = '\0';
	s->v[s->count] =
		(struct symbol){y->st_value, y->st_size, arena_copy(&s->names, text, n + 1)};
	if (!s->v[s->count].name)
		return ERR_NOMEM;
	s->count++;
	s->sorted = false;
	return ERR_OK;
}

static enum err add_section(struct elf_symbols *s, Elf *file, Elf_Scn *section)
{
	enum err err = ERR_OK;
	GElf_Shdr h;
	Elf_Data *data;

	if (!gelf_getshdr(section, &h) || (h.sh_type != SHT_SYMTAB && h.sh_type != SHT_DYNSYM) ||
	    !h.sh_entsize || h.sh_size > TABLE_MOST || !(data = elf_getdata(section, NULL)))
		return ERR_OK;
	for (size_t n = 0; n < data->d_size / h.sh_entsize && n < INT32_MAX && err == ERR_OK; n++) {
		const char *name;
		GElf_Sym y;

		if (!gelf_getsym(data, (int)n, &y))
			break;
		name = elf_strptr(file, h.sh_link, y.st_name);
		if (name)
			err = add(s, &y, name);
	}
	return err;
}

enum err elf_symbols_add_file(struct elf_symbols *s, Elf *file)
{
	Elf_Scn *section = NULL;
	enum err err = ERR_OK;

	while (err == ERR_OK && (section = elf_nextscn(file, section)))
		err = add_section(s, file, section);
	return err == ERR_BOUND ? ERR_OK : err;
}

/* DT_GNU_HASH tells no count: the highest bucket's chain ends with the last symbol. */
static uint32_t count_by_gnu_hash(struct elf_image *i)
{
	uint32_t head[4], index, last = 0, value;
	vaddr buckets, chain;

	if (mem_read(i->mem, i->dynamic.gnu_hash, head, sizeof(head)) != ERR_OK)
		return 0;
	buckets = i->dynamic.gnu_hash + sizeof(head) + (uint64_t)head[2] * sizeof(uint64_t);
	chain = buckets + (uint64_t)head[0] * sizeof(index);
	for (uint32_t n = 0; n < head[0] && n < SYMBOLS_MOST; n++) {
		if (mem_read(i->mem, buckets + (uint64_t)n * sizeof(index), &index,
			     sizeof(index)) != ERR_OK)
			return 0;
		if (index > last)
			last = index;
	}
	for (; last >= head[1] && last < SYMBOLS_MOST; last++) {
		if (mem_read(i->mem, chain + (uint64_t)(last - head[1]) * sizeof(value), &value,
			     sizeof(value)) != ERR_OK)
			return 0;
		if (value & 1)
			return last + 1;
	}
	return 0;
}

static uint32_t count_in_memory(struct elf_image *i)
{
	uint32_t head[2] = {0};

	if (i->dynamic.hash && mem_read(i->mem, i->dynamic.hash, head, sizeof(head)) == ERR_OK)
		return head[1];
	return i->dynamic.gnu_hash ? count_by_gnu_hash(i) : 0;
}

static enum err add_from_memory(struct elf_symbols *s, struct elf_image *i)
{
	uint32_t count;
	enum err err = ERR_OK;

	elf_read_dynamic(i);
	if (!i->dynamic.symbols || !i->dynamic.strings)
		return ERR_OK;
	count = count_in_memory(i);
	for (uint32_t n = 0; n < count && n < SYMBOLS_MOST && err == ERR_OK; n++) {
		char name[NAME_MOST] = "";
		Elf64_Sym y;
		uint64_t left;

		if (mem_read(i->mem, i->dynamic.symbols + (uint64_t)n * sizeof(y), &y, sizeof(y)) !=
		    ERR_OK)
			break;
		if (y.st_name >= i->dynamic.strings_size)
			continue;
		left = i->dynamic.strings_size - y.st_name;
		if (left > sizeof(name) - 1)
			left = sizeof(name) - 1;
		if (mem_read(i->mem, i->dynamic.strings + y.st_name, name, left) == ERR_OK)
			err = add(s, &y, name);
	}
	return err == ERR_BOUND ? ERR_OK : err;
}

enum err elf_symbols_add_image(struct elf_symbols *s, struct elf_image *i)
{
	return elf_file_open(i) ? elf_symbols_add_file(s, i->file) : add_from_memory(s, i);
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* By address; of those with one address the best name last, since the search comes from above. */
static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	size_t ux, uy, nx, ny;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	ux = underscores(x->name);
	uy = underscores(y->name);
	if (ux != uy)
		return ux > uy ? -1 : 1;
	nx = strlen(x->name);
	ny = strlen(y->name);
	if (nx != ny)
		return nx > ny ? -1 : 1;
	return strcmp(y->name, x->name);
}

static void sort(struct elf_symbols *s)
{
	if (s->sorted)
		return;
	if (s->count)
		qsort(s->v, s->count, sizeof(*s->v), by_address);
	s->sorted = true;
}

const char *elf_symbols_find(struct elf_symbols *s, uint64_t at, uint64_t start)
{
	size_t low = 0, high = s->count;

	sort(s);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->v[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t back = 0; back < BACK_MOST && back < low; back++) {
		const struct symbol *y = &s->v[low - 1 - back];

		if (at - y->at < y->size || (!y->size && start && y->at == start))
			return y->name;
	}
	return NULL;
}
