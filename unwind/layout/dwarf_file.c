/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where debug information lies: sections of the image, /usr/lib/debug/.build-id/XX/REST.debug, and the supplementary file that dwz makes. All is read,
 * not mapped, so that a file that shrinks meanwhile can't kill us.
 */
#include "unwind/layout/dwarf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUILD_ID_MAX 64

static void file_reset(struct dwarf_file *f)
{
	*f = (struct dwarf_file){.fd = -1, .alt_fd = -1};
}

void dwarf_file_close(struct dwarf_file *f)
{
	if (f->dw)
		dwarf_end(f->dw);
	if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	if (f->alt)
		dwarf_end(f->alt);
	if (f->alt_elf)
		elf_end(f->alt_elf);
	if (f->alt_fd >= 0)
		close(f->alt_fd);
	file_reset(f);
}

static bool build_id_path(const char *root, const unsigned char *id, size_t len, char *path,
			  size_t size)
{
	int n;

	if (len < 2 || len > BUILD_ID_MAX)
		return false;
	n = snprintf(path, size, "%s/usr/lib/debug/.build-id/%02x/", root, id[0]);
	for (size_t i = 1; i < len; i++) {
		if (n < 0 || (size_t)n + 3 > size)
			return false;
		n += snprintf(path + n, size - (size_t)n, "%02x", id[i]);
	}
	if (n < 0 || (size_t)n + sizeof(".debug") > size)
		return false;
	memcpy(path + n, ".debug", sizeof(".debug"));
	return true;
}

/* Only regular files: a target's root may hold anything under that name. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool has_info(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, shdr.sh_name);
		if (name && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
			return true;
	}
	return false;
}

/* dwz moved what several files share into one; without it many types are out of reach. */
static void attach_supplement(struct dwarf_file *f, const char *root)
{
	const char *name;
	const void *id;
	char path[4096];
	ssize_t len = dwelf_dwarf_gnu_debugaltlink(f->dw, &name, &id);

	if (len <= 0 || dwarf_getalt(f->dw) || !root ||
	    !build_id_path(root, id, (size_t)len, path, sizeof(path)))
		return;
	f->alt_fd = open_regular(path);
	if (f->alt_fd < 0)
		return;
	f->alt_elf = elf_begin(f->alt_fd, ELF_C_READ, NULL);
	f->alt = f->alt_elf ? dwarf_begin_elf(f->alt_elf, DWARF_C_READ, NULL) : NULL;
	if (f->alt)
		dwarf_setalt(f->dw, f->alt);
}

static enum err open_separate(Elf *image, const char *root, struct dwarf_file *f)
{
	const void *id;
	char path[4096];
	ssize_t len = dwelf_elf_gnu_build_id(image, &id);

	if (len <= 0 || !build_id_path(root, id, (size_t)len, path, sizeof(path)))
		return ERR_SHAPE;
	f->fd = open_regular(path);
	if (f->fd < 0)
		return ERR_SHAPE;
	f->elf = elf_begin(f->fd, ELF_C_READ, NULL);
	return f->elf && has_info(f->elf) ? ERR_OK : ERR_SHAPE;
}

enum err dwarf_file_open(int fd, const char *root, struct dwarf_file *ret)
{
	enum err r = ERR_SHAPE;
	Elf *image = NULL;

	file_reset(ret);
	if (elf_version(EV_CURRENT) == EV_NONE)
		return ERR_SHAPE;
	ret->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (ret->fd < 0)
		return ERR_SHAPE;
	ret->elf = elf_begin(ret->fd, ELF_C_READ, NULL);
	if (ret->elf && has_info(ret->elf)) {
		r = ERR_OK;
	} else if (ret->elf && root) {
		int image_fd = ret->fd;

		image = ret->elf;
		file_reset(ret);
		r = open_separate(image, root, ret);
		elf_end(image);
		close(image_fd);
	}
	if (!r) {
		ret->dw = dwarf_begin_elf(ret->elf, DWARF_C_READ, NULL);
		if (ret->dw)
			attach_supplement(ret, root);
		else
			r = ERR_SHAPE;
	}
	if (r)
		dwarf_file_close(ret);
	return r;
}
