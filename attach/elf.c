/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image as the loader left it in the target's memory: headers, PT_DYNAMIC, the hash tables over the dynamic symbols, the build id. All of it may have been
 * overwritten: each count is bounded, each chain has an end.
 */
#include "attach/elf.h"

#include "attach/elf_internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST    256u
#define DYNAMIC_MOST 512u
#define CHAIN_MOST   (1u << 20)
#define NOTES_MOST   65536u

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#error "neither x86-64 nor AArch64"
#endif

static bool header_fits(const Elf64_Ehdr *h)
{
	return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == ELFDATA2LSB && h->e_machine == OWN_MACHINE &&
	       (h->e_type == ET_EXEC || h->e_type == ET_DYN) &&
	       h->e_phentsize == sizeof(Elf64_Phdr) && h->e_phnum > 0 &&
	       h->e_phnum <= ELF_SEGMENTS_MOST;
}

/* The distance between addresses in the file and here, from the segment that holds the file's beginning. */
static bool find_bias(struct elf_image *i)
{
	bool found = false;

	for (size_t n = 0; n < i->segment_count; n++) {
		const Elf64_Phdr *p = &i->segments[n];

		if (p->p_type == PT_LOAD && !found) {
			/* Segments are in ascending order (ELF specification), so the first holds the lowest address. */
			i->bias = i->start - (p->p_vaddr - p->p_offset);
			found = true;
		}
	}
	for (size_t n = 0; n < i->segment_count; n++) {
		const Elf64_Phdr *p = &i->segments[n];
		vaddr end = i->bias + p->p_vaddr + p->p_memsz;

		if (p->p_type == PT_LOAD && end > i->image_end)
			i->image_end = end;
	}
	return found;
}

enum err elf_open(pid_t pid, struct mem *mem, const struct maps *maps, const struct map *first,
		  struct elf_image **ret)
{
	struct elf_image *i = calloc(1, sizeof(*i));
	enum err err;

	(void)maps;
	if (!i)
		return ERR_NOMEM;
	i->pid = pid;
	i->mem = mem;
	i->start = first->start;
	i->end = first->end;
	i->deleted = first->deleted;
	i->fd = -1;
	i->path = strdup(first->path);
	err = i->path ? mem_read(mem, i->start, &i->header, sizeof(i->header)) : ERR_NOMEM;
	if (err == ERR_OK && !header_fits(&i->header))
		err = ERR_SHAPE;
	if (err == ERR_OK) {
		i->segment_count = i->header.e_phnum;
		i->segments = calloc(i->segment_count, sizeof(*i->segments));
		err = i->segments ? ERR_OK : ERR_NOMEM;
	}
	/* Linkers put the program headers right behind the header, so they are mapped with it. */
	if (err == ERR_OK && i->header.e_phoff > i->end - i->start)
		err = ERR_SHAPE;
	if (err == ERR_OK)
		err = mem_read(mem, i->start + i->header.e_phoff, i->segments,
			       i->segment_count * sizeof(*i->segments));
	if (err == ERR_OK && !find_bias(i))
		err = ERR_SHAPE;
	if (err != ERR_OK) {
		elf_close(i);
		return err;
	}
	*ret = i;
	return ERR_OK;
}

void elf_close(struct elf_image *i)
{
	if (!i)
		return;
	elf_file_close(i);
	free(i->segments);
	free(i->path);
	free(i);
}

uint64_t elf_bias(const struct elf_image *i)
{
	return i->bias;
}

enum err elf_segment(const struct elf_image *i, uint32_t type, vaddr *ret, uint64_t *size_ret)
{
	for (size_t n = 0; n < i->segment_count; n++) {
		if (i->segments[n].p_type != type)
			continue;
		*ret = i->bias + i->segments[n].p_vaddr;
		*size_ret = i->segments[n].p_memsz;
		return ERR_OK;
	}
	return ERR_SHAPE;
}

/* glibc writes run-time addresses into the dynamic section, musl and the kernel's vDSO leave those of the file. */
static vaddr dynamic_address(const struct elf_image *i, uint64_t value)
{
	return value >= i->start && value < i->image_end ? value : i->bias + value;
}

static void take_dynamic(struct elf_image *i, const Elf64_Dyn *d)
{
	vaddr at = dynamic_address(i, d->d_un.d_ptr);

	switch (d->d_tag) {
	case DT_SYMTAB:
		i->dynamic.symbols = at;
		break;
	case DT_STRTAB:
		i->dynamic.strings = at;
		break;
	case DT_STRSZ:
		i->dynamic.strings_size = d->d_un.d_val;
		break;
	case DT_GNU_HASH:
		i->dynamic.gnu_hash = at;
		break;
	case DT_HASH:
		i->dynamic.hash = at;
		break;
	default:
		break;
	}
}

void elf_read_dynamic(struct elf_image *i)
{
	if (i->dynamic_read)
		return;
	i->dynamic_read = true;
	for (size_t n = 0; n < i->segment_count; n++) {
		const Elf64_Phdr *p = &i->segments[n];
		uint64_t count = p->p_memsz / sizeof(Elf64_Dyn);

		if (p->p_type != PT_DYNAMIC)
			continue;
		for (uint64_t k = 0; k < count && k < DYNAMIC_MOST; k++) {
			Elf64_Dyn d;

			if (mem_read(i->mem, i->bias + p->p_vaddr + k * sizeof(d), &d, sizeof(d)) !=
				    ERR_OK ||
			    d.d_tag == DT_NULL)
				return;
			take_dynamic(i, &d);
		}
		return;
	}
}

/* What is looked for: the name with its length, and the two hashes. */
struct wanted {
	const char *name;
	size_t size; /* with the NUL */
	uint32_t gnu, sysv;
};

static bool want_name(const char *name, struct wanted *ret)
{
	uint32_t gnu = 5381, sysv = 0;

	*ret = (struct wanted){.name = name, .size = strlen(name) + 1};
	if (ret->size > NAME_MOST)
		return false;
	for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
		gnu = gnu * 33 + *c;
		sysv = (sysv << 4) + *c;
		sysv ^= (sysv >> 24) & 0xf0;
		sysv &= 0x0fffffff;
	}
	ret->gnu = gnu;
	ret->sysv = sysv;
	return true;
}

/* Is the symbol of that index the one, and defined here? */
static bool symbol_matches(struct elf_image *i, const struct wanted *w, uint32_t index,
			   Elf64_Sym *ret)
{
	const struct elf_dynamic *d = &i->dynamic;
	char name[NAME_MOST];

	if (mem_read(i->mem, d->symbols + (uint64_t)index * sizeof(*ret), ret, sizeof(*ret)) !=
	    ERR_OK)
		return false;
	if (ret->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(ret->st_info) == STT_TLS)
		return false;
	if (d->strings_size && (uint64_t)ret->st_name + w->size > d->strings_size)
		return false;
	return mem_read(i->mem, d->strings + ret->st_name, name, w->size) == ERR_OK &&
	       memcmp(name, w->name, w->size) == 0;
}

static bool read_word(struct elf_image *i, vaddr at, uint32_t *ret)
{
	return mem_read(i->mem, at, ret, sizeof(*ret)) == ERR_OK;
}

/* DT_GNU_HASH: {buckets, first index, filter words, filter shift}, the filter, the buckets, a hash value per symbol whose lowest bit ends a chain. */
static bool find_by_gnu_hash(struct elf_image *i, const struct wanted *w, Elf64_Sym *ret)
{
	uint32_t head[4], index, value;
	vaddr filter, buckets, chain;
	uint64_t word;

	if (mem_read(i->mem, i->dynamic.gnu_hash, head, sizeof(head)) != ERR_OK || !head[0] ||
	    !head[2])
		return false;
	filter = i->dynamic.gnu_hash + sizeof(head);
	buckets = filter + (uint64_t)head[2] * sizeof(word);
	chain = buckets + (uint64_t)head[0] * sizeof(index);
	if (mem_read(i->mem, filter + (w->gnu / 64 % head[2]) * sizeof(word), &word,
		     sizeof(word)) != ERR_OK)
		return false;
	if (!(word >> (w->gnu % 64) & 1) || !(word >> (w->gnu >> (head[3] & 31)) % 64 & 1))
		return false;
	if (!read_word(i, buckets + (uint64_t)(w->gnu % head[0]) * sizeof(index), &index) ||
	    index < head[1])
		return false;
	for (uint32_t steps = 0; steps < CHAIN_MOST; steps++, index++) {
		if (!read_word(i, chain + (uint64_t)(index - head[1]) * sizeof(value), &value))
			return false;
		if ((value | 1) == (w->gnu | 1) && symbol_matches(i, w, index, ret))
			return true;
		if (value & 1)
			return false;
	}
	return false;
}

/* DT_HASH: {buckets, symbols}, the buckets, for each symbol the next of its chain. */
static bool find_by_hash(struct elf_image *i, const struct wanted *w, Elf64_Sym *ret)
{
	uint32_t head[2], index;
	vaddr buckets = i->dynamic.hash + sizeof(head), chain;

	if (mem_read(i->mem, i->dynamic.hash, head, sizeof(head)) != ERR_OK || !head[0])
		return false;
	chain = buckets + (uint64_t)head[0] * sizeof(index);
	if (!read_word(i, buckets + (uint64_t)(w->sysv % head[0]) * sizeof(index), &index))
		return false;
	for (uint32_t steps = 0; index && index < head[1] && steps < head[1] && steps < CHAIN_MOST;
	     steps++) {
		if (symbol_matches(i, w, index, ret))
			return true;
		if (!read_word(i, chain + (uint64_t)index * sizeof(index), &index))
			return false;
	}
	return false;
}

enum err elf_dynamic_symbol(struct elf_image *i, const char *name, vaddr *ret, uint64_t *size_ret)
{
	struct wanted w;
	Elf64_Sym symbol;

	elf_read_dynamic(i);
	if (!i->dynamic.symbols || !i->dynamic.strings || !want_name(name, &w))
		return ERR_SHAPE;
	if (!(i->dynamic.gnu_hash && find_by_gnu_hash(i, &w, &symbol)) &&
	    !(i->dynamic.hash && find_by_hash(i, &w, &symbol)))
		return ERR_SHAPE;
	*ret = symbol.st_shndx == SHN_ABS ? symbol.st_value : i->bias + symbol.st_value;
	if (size_ret)
		*size_ret = symbol.st_size;
	return ERR_OK;
}

enum err elf_symbol(struct elf_image *i, const char *name, vaddr *ret, uint64_t *size_ret)
{
	enum err err = elf_dynamic_symbol(i, name, ret, size_ret);
	uint64_t value;

	if (err == ERR_OK)
		return err;
	err = elf_file_symbol(i, name, &value, size_ret);
	if (err == ERR_OK)
		*ret = i->bias + value;
	return err;
}

size_t elf_find_build_id(const unsigned char *notes, size_t size, size_t align, unsigned char *ret)
{
	size_t at = 0;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		size_t name = at + sizeof(n), bytes, next;

		memcpy(&n, notes + at, sizeof(n));
		if (n.n_namesz > size || n.n_descsz > size)
			return 0;
		bytes = (name + n.n_namesz + align - 1) & ~(align - 1);
		next = (bytes + n.n_descsz + align - 1) & ~(align - 1);
		if (bytes > size || n.n_descsz > size - bytes)
			return 0;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    memcmp(notes + name, "GNU", 4) == 0 && n.n_descsz <= ELF_BUILD_ID_MOST) {
			memcpy(ret, notes + bytes, n.n_descsz);
			return n.n_descsz;
		}
		if (next > size)
			return 0;
		at = next;
	}
	return 0;
}

static void read_build_id(struct elf_image *i)
{
	i->build_id_read = true;
	for (size_t n = 0; n < i->segment_count && !i->build_id_size; n++) {
		const Elf64_Phdr *p = &i->segments[n];
		unsigned char *notes;

		if (p->p_type != PT_NOTE || !p->p_memsz || p->p_memsz > NOTES_MOST)
			continue;
		notes = malloc(p->p_memsz);
		if (notes && mem_read(i->mem, i->bias + p->p_vaddr, notes, p->p_memsz) == ERR_OK)
			i->build_id_size = elf_find_build_id(notes, p->p_memsz,
							     p->p_align == 8 ? 8 : 4, i->build_id);
		free(notes);
	}
}

size_t elf_build_id(struct elf_image *i, unsigned char *ret, size_t size)
{
	if (!i->build_id_read)
		read_build_id(i);
	if (i->build_id_size > size)
		return 0;
	memcpy(ret, i->build_id, i->build_id_size);
	return i->build_id_size;
}
