/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries are known by the folders that they are installed in; all other files are the program's own. */
#include "report/paths.h"

#include <string.h>

#define PARTS_MAX 4

static const char *find_last(struct str in, const char *what)
{
	size_t n = strlen(what);

	for (size_t i = in.len; i >= n && n; i--) {
		if (memcmp(in.ptr + i - n, what, n) == 0)
			return in.ptr + i;
	}
	return NULL;
}

/* Where the name inside a library begins; NULL for the program's own files. */
static const char *library_part(struct str file)
{
	const char *p = find_last(file, "/site-packages/");

	if (!p)
		p = find_last(file, "/dist-packages/");
	if (p)
		return p;
	p = find_last(file, "/python3.");
	if (!p)
		return NULL;
	while (p < file.ptr + file.len && *p >= '0' && *p <= '9')
		p++;
	if (p < file.ptr + file.len &&
	    (*p == 't' || *p == 'd')) /* free-threaded and debug builds */
		p++;
	return p < file.ptr + file.len && *p == '/' ? p + 1 : NULL;
}

static uint32_t common_length(struct str a, struct str b)
{
	uint32_t n = 0, end = 0;

	while (n < a.len && n < b.len && a.ptr[n] == b.ptr[n]) {
		if (a.ptr[n++] == '/')
			end = n;
	}
	return end;
}

void paths_init(struct paths *p, const struct model *m)
{
	*p = (struct paths){{NULL, 0}};
	for (uint32_t i = 0; i < m->frames.count; i++) {
		struct str file = m->frames.v[i].file;

		if (m->frames.v[i].image.ptr || !file.len || file.ptr[0] != '/' ||
		    m->frames.v[i].library || library_part(file))
			continue;
		if (!p->common.ptr)
			p->common = file;
		p->common.len = common_length(p->common, file);
	}
}

struct str paths_short(const struct paths *p, struct str file, bool *cut)
{
	const char *start, *end = file.ptr + file.len;
	unsigned parts = 1;

	*cut = false;
	if (!file.len || file.ptr[0] != '/')
		return file;
	start = library_part(file);
	if (!start) {
		uint32_t skip = p->common.len > 1 ? common_length(p->common, file) : 0;

		start = file.ptr + (skip == p->common.len ? skip : 0);
	}
	for (const char *q = end; q > start; q--) {
		if (q[-1] != '/' || q == start + 1)
			continue;
		if (parts++ == PARTS_MAX) {
			*cut = true;
			start = q;
			break;
		}
	}
	return (struct str){start, (uint32_t)(end - start)};
}
