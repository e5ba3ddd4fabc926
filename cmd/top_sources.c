/* SPDX-License-Identifier: Apache-2.0 */
/* The lock is held for the table alone, never while a file is read. */
#include "cmd/top_sources.h"

#include "attach/rootfile.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define SOURCE_MOST  ((size_t)4 << 20) /* bytes of a file */
#define SOURCES_ROOM ((size_t)64 << 20) /* bytes of all */

void sources_init(struct sources *s)
{
	*s = (struct sources){0};
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->came, NULL);
}

void sources_clear(struct sources *s)
{
	pthread_mutex_lock(&s->lock);
	for (uint32_t i = 0; i < s->count; i++) {
		free(s->v[i].name);
		free(s->v[i].text);
		free(s->v[i].lines);
		s->v[i] = (struct source_file){0};
	}
	s->count = 0;
	s->bytes = 0;
	pthread_mutex_unlock(&s->lock);
}

void sources_deinit(struct sources *s)
{
	sources_clear(s);
	pthread_cond_destroy(&s->came);
	pthread_mutex_destroy(&s->lock);
}

static struct source_file *find(struct sources *s, struct str name)
{
	for (uint32_t i = 0; i < s->count; i++) {
		if (str_is(name, s->v[i].name))
			return &s->v[i];
	}
	return NULL;
}

static void want(struct sources *s, struct str name)
{
	char *copy;

	if (s->count == SOURCES_MOST || !name.len || name.ptr[0] != '/' ||
	    memchr(name.ptr, 0, name.len))
		return;
	copy = strndup(name.ptr, name.len);
	if (copy)
		s->v[s->count++] = (struct source_file){.name = copy};
}

bool sources_line(struct sources *s, struct str file, int32_t line, struct str *ret)
{
	struct source_file *f;
	bool found = false;

	pthread_mutex_lock(&s->lock);
	f = find(s, file);
	if (!f)
		want(s, file);
	if (f && f->text && line > 0 && (uint32_t)line <= f->line_count) {
		uint32_t from = f->lines[line - 1];
		const char *end = memchr(f->text + from, '\n', f->length - from);

		*ret = (struct str){f->text + from,
				    end ? (uint32_t)(end - f->text) - from : f->length - from};
		found = true;
	}
	pthread_mutex_unlock(&s->lock);
	return found;
}

static bool all_read(const struct sources *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		if (!s->v[i].read)
			return false;
	}
	return true;
}

void sources_wait(struct sources *s, unsigned ms)
{
	struct timespec ts = clock_timespec(clock_now_ns() + ms * 1000000ull);
	int timed_out = 0;

	pthread_mutex_lock(&s->lock);
	while (!timed_out && !all_read(s))
		timed_out = pthread_cond_clockwait(&s->came, &s->lock, CLOCK_MONOTONIC, &ts);
	pthread_mutex_unlock(&s->lock);
}

/* Where the lines begin; nothing that could be used where there is no memory. */
static void index_lines(struct source_file *f)
{
	uint32_t count = 1;

	for (uint32_t i = 0; i + 1 < f->length; i++)
		count += f->text[i] == '\n';
	f->lines = malloc(count * sizeof(*f->lines));
	if (!f->lines || !f->length)
		return;
	f->lines[f->line_count++] = 0;
	for (uint32_t i = 0; i + 1 < f->length; i++) {
		if (f->text[i] == '\n')
			f->lines[f->line_count++] = i + 1;
	}
}

/* A file may hold anything. */
static void load(struct source_file *f, pid_t pid, const char *name)
{
	auto_free char *raw = NULL;
	ssize_t n = rootfile_load(pid, str_from(name), SOURCE_MOST, &raw);
	char *text = n > 0 ? malloc((size_t)n * UTF8_CLEAN_GROWTH) : NULL;

	if (!text)
		return;
	f->length = (uint32_t)utf8_clean(text, raw, (size_t)n);
	f->text = realloc(text, f->length);
	if (!f->text)
		f->text = text;
	index_lines(f);
}

bool sources_read_one(struct sources *s, pid_t pid)
{
	struct source_file *f = NULL, read = {0};
	char *name = NULL;

	pthread_mutex_lock(&s->lock);
	for (uint32_t i = 0; i < s->count && !name; i++) {
		if (!s->v[i].read)
			name = strdup(s->v[i].name);
	}
	pthread_mutex_unlock(&s->lock);
	if (!name)
		return false;
	load(&read, pid, name);
	pthread_mutex_lock(&s->lock);
	f = find(s, str_from(name));
	if (f)
		f->read = true;
	if (f && s->bytes + read.length <= SOURCES_ROOM) {
		s->bytes += read.length;
		f->text = read.text;
		f->lines = read.lines;
		f->length = read.length;
		f->line_count = read.line_count;
		read = (struct source_file){0};
	}
	pthread_cond_broadcast(&s->came);
	pthread_mutex_unlock(&s->lock);
	free(read.text);
	free(read.lines);
	free(name);
	return true;
}
