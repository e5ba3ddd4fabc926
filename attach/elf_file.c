/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file behind a mapped image: which of several ways leads to it, the proof that it is the one, and what only it has (section headers, .symtab). Read with
 * pread and never mapped: a file that is cut short meanwhile must not be a SIGBUS here.
 */
#include "attach/elf_internal.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <gelf.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
#define TABLE_MOST ((uint64_t)256 << 20)
#define NOTES_MOST 65536u

static bool read_at(int fd, uint64_t offset, void *to, size_t size)
{
	size_t have = 0;

	while (have < size) {
		ssize_t n = pread(fd, (char *)to + have, size - have, (off_t)(offset + have));

		if (n <= 0)
			return false;
		have += (size_t)n;
	}
	return true;
}

static bool same_build_id(struct elf_image *i, int fd)
{
	unsigned char own[ELF_BUILD_ID_MOST], other[ELF_BUILD_ID_MOST];
	size_t size = elf_build_id(i, own, sizeof(own));

	if (!size)
		return true;
	for (size_t n = 0; n < i->segment_count; n++) {
		const Elf64_Phdr *p = &i->segments[n];
		auto_free unsigned char *notes = NULL;

		if (p->p_type != PT_NOTE || !p->p_filesz || p->p_filesz > NOTES_MOST)
			continue;
		notes = malloc(p->p_filesz);
		if (notes && read_at(fd, p->p_offset, notes, p->p_filesz) &&
		    elf_find_build_id(notes, p->p_filesz, p->p_align == 8 ? 8 : 4, other) == size)
			return memcmp(own, other, size) == 0;
	}
	return false;
}

/* Same header and program headers as in memory, and the same build id. */
static bool is_the_image(struct elf_image *i, int fd)
{
	size_t size = i->segment_count * sizeof(*i->segments);
	auto_free void *segments = malloc(size);
	Elf64_Ehdr header;
	struct stat s;

	return segments && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) &&
	       read_at(fd, 0, &header, sizeof(header)) &&
	       memcmp(&header, &i->header, sizeof(header)) == 0 &&
	       read_at(fd, header.e_phoff, segments, size) &&
	       memcmp(segments, i->segments, size) == 0 && same_build_id(i, fd);
}

static bool accept_file(struct elf_image *i, int fd)
{
	if (fd < 0)
		return false;
	if (is_the_image(i, fd)) {
		i->fd = fd;
		return true;
	}
	close(fd);
	return false;
}

/* The path as the target sees it: links and ".." stay inside its root. */
static int open_in_root(pid_t pid, const char *path)
{
	struct open_how how = {.flags = OPEN_FLAGS, .resolve = RESOLVE_IN_ROOT};
	auto_close int root = -1;
	char text[32];

	snprintf(text, sizeof(text), "/proc/%d/root", (int)pid);
	root = open(text, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? -1 : (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

static bool find_file(struct elf_image *i)
{
	char text[96];

	/* The mapping's own file, whatever has become of its name; needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE. */
	snprintf(text, sizeof(text), "/proc/%d/map_files/%lx-%lx", (int)i->pid,
		 (unsigned long)i->start, (unsigned long)i->end);
	if (accept_file(i, open(text, OPEN_FLAGS)))
		return true;
	snprintf(text, sizeof(text), "/proc/%d/exe", (int)i->pid);
	if (accept_file(i, open(text, OPEN_FLAGS)))
		return true;
	if (i->path[0] != '/' || i->deleted)
		return false;
	return accept_file(i, open_in_root(i->pid, i->path)) ||
	       accept_file(i, open(i->path, OPEN_FLAGS));
}

bool elf_file_open(struct elf_image *i)
{
	if (!i->file_tried) {
		i->file_tried = true;
		if (elf_version(EV_CURRENT) != EV_NONE && find_file(i))
			i->file = elf_begin(i->fd, ELF_C_READ, NULL);
	}
	return i->file != NULL;
}

void elf_file_close(struct elf_image *i)
{
	if (i->file)
		elf_end(i->file);
	if (i->fd >= 0)
		close(i->fd);
}

int elf_file(struct elf_image *i)
{
	return elf_file_open(i) ? i->fd : -1;
}

enum err elf_section(struct elf_image *i, const char *name, vaddr *ret, uint64_t *size_ret)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (!elf_file_open(i) || elf_getshdrstrndx(i->file, &names) != 0)
		return ERR_SHAPE;
	while ((section = elf_nextscn(i->file, section))) {
		const char *found;
		GElf_Shdr h;

		if (!gelf_getshdr(section, &h) || !(h.sh_flags & SHF_ALLOC))
			continue;
		found = elf_strptr(i->file, names, h.sh_name);
		if (!found || strcmp(found, name) != 0)
			continue;
		*ret = i->bias + h.sh_addr;
		if (size_ret)
			*size_ret = h.sh_size;
		return ERR_OK;
	}
	return ERR_SHAPE;
}

static bool find_in_table(Elf *file, Elf_Scn *section, const GElf_Shdr *h, const char *name,
			  GElf_Sym *ret)
{
	Elf_Data *data;

	if (!h->sh_entsize || h->sh_size > TABLE_MOST || !(data = elf_getdata(section, NULL)))
		return false;
	for (size_t n = 0; n < data->d_size / h->sh_entsize && n < INT32_MAX; n++) {
		const char *found;

		if (!gelf_getsym(data, (int)n, ret))
			return false;
		if (ret->st_shndx == SHN_UNDEF || GELF_ST_TYPE(ret->st_info) == STT_TLS)
			continue;
		found = elf_strptr(file, h->sh_link, ret->st_name);
		if (found && strcmp(found, name) == 0)
			return true;
	}
	return false;
}

enum err elf_file_symbol(struct elf_image *i, const char *name, uint64_t *ret, uint64_t *size_ret)
{
	static const uint32_t tables[] = {SHT_SYMTAB, SHT_DYNSYM};

	if (!elf_file_open(i))
		return ERR_SHAPE;
	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++) {
		Elf_Scn *section = NULL;

		while ((section = elf_nextscn(i->file, section))) {
			GElf_Shdr h;
			GElf_Sym symbol;

			if (!gelf_getshdr(section, &h) || h.sh_type != tables[t] ||
			    !find_in_table(i->file, section, &h, name, &symbol))
				continue;
			*ret = symbol.st_value;
			if (size_ret)
				*size_ret = symbol.st_size;
			return ERR_OK;
		}
	}
	return ERR_SHAPE;
}
