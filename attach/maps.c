/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/maps, split in place. */
#include "attach/maps.h"

#include "attach/procfile.h"
#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAPS_MOST ((size_t)64 << 20)

/* Number up to the given character, which is stepped over. */
static bool take_number(char **at, int base, char end, uint64_t *ret)
{
	char *stop;

	*ret = strtoull(*at, &stop, base);
	if (stop == *at || *stop != end)
		return false;
	*at = stop + 1;
	return true;
}

/* "7f00-7f10 r-xp 00000000 08:01 123   /path (deleted)" */
static bool parse_line(char *line, struct map *m)
{
	static const char deleted[] = " (deleted)";
	uint64_t major, minor;
	char *at = line;
	size_t len;

	if (!take_number(&at, 16, '-', &m->start) || !take_number(&at, 16, ' ', &m->end) ||
	    strlen(at) < 5)
		return false;
	m->read = at[0] == 'r';
	m->write = at[1] == 'w';
	m->exec = at[2] == 'x';
	at += 5;
	if (!take_number(&at, 16, ' ', &m->offset) || !take_number(&at, 16, ':', &major) ||
	    !take_number(&at, 16, ' ', &minor))
		return false;
	m->inode = strtoull(at, &at, 10);
	at += strspn(at, " ");
	m->dev_major = (uint32_t)major;
	m->dev_minor = (uint32_t)minor;
	m->path = at;
	len = strlen(at);
	m->deleted = len >= sizeof(deleted) &&
		     strcmp(at + len - (sizeof(deleted) - 1), deleted) == 0;
	if (m->deleted)
		at[len - (sizeof(deleted) - 1)] = '\0';
	return m->start < m->end;
}

static int compare_start(const void *a, const void *b)
{
	const struct map *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

enum err maps_load(pid_t pid, struct maps *ret, struct error *e)
{
	auto_free char *text = NULL;
	auto_free struct map *v = NULL;
	size_t lines = 0, count = 0;
	char path[40], *line;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	n = procfile_load(path, MAPS_MOST, &text);
	if (n < 0)
		return procfile_error(pid, (int)-n, e);
	for (const char *c = text; (c = strchr(c, '\n')); c++)
		lines++;
	v = calloc(lines + 1, sizeof(*v));
	if (!v)
		return error_set(e, ERR_NOMEM, 0, "no memory");
	line = text;
	while (line && *line) {
		char *end = strchr(line, '\n');

		if (!end)
			break;
		*end = '\0';
		if (parse_line(line, &v[count]))
			count++;
		line = end + 1;
	}
	/* The kernel's order is by address, but the text may come in pieces between which the target mapped something. */
	qsort(v, count, sizeof(*v), compare_start);
	*ret = (struct maps){v, count, text};
	v = NULL;
	text = NULL;
	return ERR_OK;
}

void maps_deinit(struct maps *m)
{
	free(m->v);
	free(m->text);
	*m = (struct maps){0};
}

const struct map *maps_find(const struct maps *m, vaddr at)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (at >= m->v[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	return low < m->count && at >= m->v[low].start ? &m->v[low] : NULL;
}
