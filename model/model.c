/* SPDX-License-Identifier: Apache-2.0 */
/* The model's growing tables, its interning, and the inversion of "awaits" into "awaited by". */
#include "model/model.h"

#include "model/finding.h"
#include "model/intern.h"
#include "model/rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_RESERVE ((size_t)16 << 30)

void *rows_grown(void *v, uint32_t count, uint32_t *capacity, size_t size)
{
	uint32_t wish = *capacity ? *capacity * 2 : 64;
	void *p;

	if (count < *capacity)
		return v;
	if (wish <= *capacity)
		return NULL;
	p = realloc(v, wish * size);
	if (p)
		*capacity = wish;
	return p;
}

enum err model_create(struct model **ret)
{
	struct model *m = calloc(1, sizeof(*m));

	if (!m)
		return ERR_NOMEM;
	m->index = calloc(1, sizeof(*m->index));
	if (!m->index || !arena_init(&m->text, TEXT_RESERVE)) {
		model_destroy(m);
		return ERR_NOMEM;
	}
	*ret = m;
	return ERR_OK;
}

void model_destroy(struct model *m)
{
	if (!m)
		return;
	if (m->index) {
		hash_deinit(&m->index->tasks);
		hash_deinit(&m->index->loops);
		hash_deinit(&m->index->threads);
		hash_deinit(&m->index->strings);
		hash_deinit(&m->index->frames);
		hash_deinit(&m->index->chains);
		free(m->index);
	}
	arena_deinit(&m->text);
	free(m->interpreters.v);
	free(m->threads.v);
	free(m->loops.v);
	free(m->tasks.v);
	free(m->handles.v);
	free(m->fds.v);
	free(m->unretrieved.v);
	free(m->calls.v);
	free(m->frames.v);
	free(m->chains.v);
	free(m->strings.v);
	free(m->edges.v);
	free(m->back_edges.v);
	free(m->findings.v);
	free(m->evidence.v);
	free(m);
}

/* The command line is part of target, which outlives the text around it: carried over the reset. */
static void text_reset(struct model *m)
{
	size_t count = m->target.command_count, bytes = 0, used = 0;
	struct str *old = m->target.command, *kept = NULL;
	char *copy = NULL;

	for (size_t i = 0; i < count; i++)
		bytes += old[i].len;
	if (count) {
		kept = calloc(count, sizeof(*kept));
		copy = malloc(bytes + 1);
	}
	if (kept && copy) {
		for (size_t i = 0; i < count; i++) {
			if (old[i].len)
				memcpy(copy + used, old[i].ptr, old[i].len);
			kept[i] = (struct str){copy + used, old[i].len};
			used += old[i].len;
		}
	}
	arena_reset(&m->text);
	m->target.command = NULL;
	m->target.command_count = 0;
	if (kept && copy)
		m->target.command = arena_alloc(&m->text, count * sizeof(*kept));
	if (m->target.command) {
		for (size_t i = 0; i < count; i++)
			m->target.command[i] = model_text(m, kept[i]);
		m->target.command_count = count;
	} else if (count) {
		m->out_of_memory = true;
	}
	free(kept);
	free(copy);
}

void model_clear(struct model *m)
{
	m->out_of_memory = false;
	text_reset(m);
	memset(&m->snapshot, 0, sizeof(m->snapshot));
	m->interpreters.count = m->threads.count = m->loops.count = m->tasks.count = 0;
	m->handles.count = m->fds.count = m->unretrieved.count = m->calls.count = 0;
	m->frames.count = m->chains.count = m->strings.count = 0;
	m->edges.count = m->back_edges.count = 0;
	findings_clear(m);
	m->tasks_truncated = m->threads_truncated = m->loops_truncated = false;
	hash_clear(&m->index->tasks);
	hash_clear(&m->index->loops);
	hash_clear(&m->index->threads);
	hash_clear(&m->index->strings);
	hash_clear(&m->index->frames);
	hash_clear(&m->index->chains);
}

static void indexed(struct model *m, struct hash *h, uint32_t hash, uint32_t row)
{
	if (!hash_add(h, hash, row))
		m->out_of_memory = true;
}

uint32_t model_add_interpreter(struct model *m, uint64_t id)
{
	uint32_t row = ROW_ADD(m, &m->interpreters);

	if (row != NONE)
		m->interpreters.v[row].id = id;
	return row;
}

uint32_t model_add_thread(struct model *m, pid_t tid)
{
	uint32_t row = ROW_ADD(m, &m->threads);

	if (row == NONE)
		return NONE;
	m->threads.v[row].tid = tid;
	m->threads.v[row].interpreter = NONE;
	m->threads.v[row].loop = NONE;
	m->threads.v[row].task = NONE;
	m->threads.v[row].chain = NONE;
	m->threads.v[row].native = NONE;
	m->threads.v[row].events_timeout = NAN;
	indexed(m, &m->index->threads, hash_u64((uint64_t)tid), row);
	return row;
}

uint32_t model_add_loop(struct model *m, vaddr id)
{
	uint32_t row = ROW_ADD(m, &m->loops);

	if (row == NONE)
		return NONE;
	m->loops.v[row].id = id;
	m->loops.v[row].cls = NONE;
	m->loops.v[row].interpreter = NONE;
	m->loops.v[row].thread = NONE;
	m->loops.v[row].current_task = m->loops.v[row].running = NONE;
	m->loops.v[row].state = LOOP_UNKNOWN;
	m->loops.v[row].timers_next = m->loops.v[row].timers_last = NAN;
	m->loops.v[row].turn_since = NAN;
	m->loops.v[row].turn_index = -1;
	m->loops.v[row].timer_cancelled_counter = m->loops.v[row].signal_handlers = -1;
	indexed(m, &m->index->loops, hash_u64(id), row);
	return row;
}

uint32_t model_add_task(struct model *m, vaddr id)
{
	uint32_t row = ROW_ADD(m, &m->tasks);
	struct task *t;

	if (row == NONE)
		return NONE;
	t = &m->tasks.v[row];
	t->id = id;
	t->cls = t->loop = t->chain = t->thread = NONE;
	t->state = TASK_UNKNOWN;
	t->awaits.kind = AWAITS_NOTHING;
	t->awaits.left = NAN;
	t->other_refs = t->awaits.other_refs = -1;
	t->awaits.thread = t->awaits.worker_chain = NONE;
	indexed(m, &m->index->tasks, hash_u64(id), row);
	return row;
}

uint32_t model_add_handle(struct model *m, vaddr id)
{
	uint32_t row = ROW_ADD(m, &m->handles);

	if (row == NONE)
		return NONE;
	m->handles.v[row].id = id;
	m->handles.v[row].kind = HANDLE_CALLBACK;
	m->handles.v[row].task = m->handles.v[row].source = NONE;
	m->handles.v[row].due = NAN;
	return row;
}

uint32_t model_add_fd(struct model *m, int fd)
{
	uint32_t row = ROW_ADD(m, &m->fds);

	if (row == NONE)
		return NONE;
	m->fds.v[row].fd = fd;
	m->fds.v[row].reader = m->fds.v[row].writer = NONE;
	return row;
}

void model_add_unretrieved(struct model *m, const struct unretrieved *row)
{
	uint32_t at = ROW_ADD(m, &m->unretrieved);

	if (at != NONE)
		m->unretrieved.v[at] = *row;
}

uint32_t model_add_call(struct model *m)
{
	uint32_t row = ROW_ADD(m, &m->calls);

	if (row != NONE)
		m->calls.v[row].thread = m->calls.v[row].chain = NONE;
	return row;
}

uint32_t model_add_edge(struct model *m, uint32_t task)
{
	uint32_t row = ROW_ADD(m, &m->edges);

	if (row != NONE)
		m->edges.v[row] = task;
	return row;
}

#define FIND_BY(m, table, key, value)                                                            \
	({                                                                                       \
		const struct hash *h_ = &(m)->index->table;                                      \
		uint32_t hash_ = hash_u64((uint64_t)(value)), row_, at_ = hash_start(h_, hash_); \
		while ((row_ = hash_next(h_, hash_, &at_)) != NONE) {                            \
			if ((m)->table.v[row_].key == (value))                                   \
				break;                                                           \
		}                                                                                \
		row_;                                                                            \
	})

uint32_t model_find_task(const struct model *m, vaddr id)
{
	return FIND_BY(m, tasks, id, id);
}

uint32_t model_find_loop(const struct model *m, vaddr id)
{
	return FIND_BY(m, loops, id, id);
}

uint32_t model_find_thread(const struct model *m, pid_t tid)
{
	return FIND_BY(m, threads, tid, tid);
}

uint32_t model_intern_string(struct model *m, struct str s)
{
	struct hash *h = &m->index->strings;
	uint32_t hash = hash_bytes(0, s.ptr, s.len), at = hash_start(h, hash), row;

	while ((row = hash_next(h, hash, &at)) != NONE) {
		if (str_equal(m->strings.v[row], s))
			return row;
	}
	row = ROW_ADD(m, &m->strings);
	if (row == NONE)
		return NONE;
	m->strings.v[row] = model_text(m, s);
	indexed(m, h, hash, row);
	return row;
}

/* asyncio/NAME.py of CPython's Lib/asyncio, wherever the library is (a folder, a zip). */
static bool is_asyncio(struct str file)
{
	static const char *const modules[] = {
		"base_events", "base_subprocess", "events",	"futures",    "locks",
		"mixins",      "proactor_events", "queues",	"runners",    "selector_events",
		"sslproto",    "staggered",	  "streams",	"subprocess", "taskgroups",
		"tasks",       "threads",	  "timeouts",	"transports", "unix_events",
		"coroutines",  "base_futures",	  "base_tasks",
	};
	char tail[64];

	if (!str_ends_with(file, ".py"))
		return false;
	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++) {
		snprintf(tail, sizeof(tail), "/asyncio/%s.py", modules[i]);
		if (str_ends_with(file, tail))
			return true;
	}
	return false;
}

static bool frame_is(const struct frame *f, const struct frame *g)
{
	return f->line == g->line && str_equal(f->function, g->function) &&
	       str_equal(f->file, g->file) && !f->image.ptr == !g->image.ptr &&
	       str_equal(f->image, g->image);
}

static uint32_t intern_frame(struct model *m, const struct frame *wanted)
{
	struct hash *h = &m->index->frames;
	uint32_t hash, at, row;
	struct frame *f;

	hash = hash_bytes((uint32_t)wanted->line, wanted->function.ptr, wanted->function.len);
	hash = hash_bytes(hash, wanted->file.ptr, wanted->file.len);
	at = hash_start(h, hash);
	while ((row = hash_next(h, hash, &at)) != NONE) {
		if (frame_is(&m->frames.v[row], wanted))
			return row;
	}
	row = ROW_ADD(m, &m->frames);
	if (row == NONE)
		return NONE;
	f = &m->frames.v[row];
	f->function = model_text(m, wanted->function);
	f->file = model_text(m, wanted->file);
	f->image = model_text(m, wanted->image);
	f->line = wanted->line;
	f->library = is_asyncio(wanted->file);
	indexed(m, h, hash, row);
	return row;
}

uint32_t model_intern_frame(struct model *m, struct str function, struct str file, int32_t line)
{
	const struct frame wanted = {.function = function, .file = file, .line = line};

	return intern_frame(m, &wanted);
}

uint32_t model_intern_native(struct model *m, struct str function, struct str image,
			     struct str file, int32_t line)
{
	const struct frame wanted = {function, file, line, false, image};

	return intern_frame(m, &wanted);
}

uint32_t model_push(struct model *m, uint32_t outer, uint32_t frame)
{
	struct hash *h = &m->index->chains;
	uint32_t hash = hash_pair(outer, frame), at = hash_start(h, hash), row;
	struct chain *c;

	while ((row = hash_next(h, hash, &at)) != NONE) {
		if (m->chains.v[row].outer == outer && m->chains.v[row].frame == frame)
			return row;
	}
	row = ROW_ADD(m, &m->chains);
	if (row == NONE)
		return NONE;
	c = &m->chains.v[row];
	c->outer = outer;
	c->frame = frame;
	c->depth = outer == NONE ? 1 : m->chains.v[outer].depth + 1;
	indexed(m, h, hash, row);
	return row;
}

struct str model_text(struct model *m, struct str s)
{
	char *p;

	if (!s.ptr)
		return s;
	p = arena_copy(&m->text, s.ptr, s.len);
	if (p)
		return (struct str){p, s.len};
	m->out_of_memory = true;
	return (struct str){NULL, 0};
}

struct str model_printf(struct model *m, const char *format, ...)
{
	struct str none = {NULL, 0};
	va_list args;
	int len;
	char *p;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0)
		return none;
	p = arena_alloc(&m->text, (size_t)len + 1);
	if (!p) {
		m->out_of_memory = true;
		return none;
	}
	va_start(args, format);
	vsnprintf(p, (size_t)len + 1, format, args);
	va_end(args);
	return (struct str){p, (uint32_t)len};
}

/*
 * One pass over all edges in the order of the waiting tasks. With `fill`, writes the waiting row to the awaited one's list, else counts. A task that is
 * awaited twice by the same one is counted once: last[] is the latest that was seen to wait for a row.
 */
static void invert(struct model *m, uint32_t *last, bool fill)
{
	memset(last, 0xff, m->tasks.count * sizeof(*last));
	for (uint32_t t = 0; t < m->tasks.count; t++) {
		const struct await *a = &m->tasks.v[t].awaits;

		for (uint32_t i = 0; i < a->tasks_count; i++) {
			uint32_t to = m->edges.v[a->tasks_first + i];
			struct task *awaited = &m->tasks.v[to];

			if (last[to] == t)
				continue;
			last[to] = t;
			if (fill)
				m->back_edges
					.v[awaited->awaited_by_first + awaited->awaited_by_count] =
					t;
			awaited->awaited_by_count++;
		}
	}
}

static void count_by_loop(struct model *m)
{
	for (uint32_t l = 0; l < m->loops.count; l++)
		m->loops.v[l].task_count = 0;
	for (uint32_t t = 0; t < m->tasks.count; t++) {
		if (m->tasks.v[t].loop != NONE)
			m->loops.v[m->tasks.v[t].loop].task_count++;
	}
}

enum err model_finish(struct model *m)
{
	uint32_t total = 0, *last, *back;

	last = malloc((m->tasks.count + 1ul) * sizeof(*last));
	if (!last)
		return ERR_NOMEM;
	for (uint32_t t = 0; t < m->tasks.count; t++)
		m->tasks.v[t].awaited_by_count = 0;
	invert(m, last, false);
	for (uint32_t t = 0; t < m->tasks.count; t++) {
		m->tasks.v[t].awaited_by_first = total;
		total += m->tasks.v[t].awaited_by_count;
		m->tasks.v[t].awaited_by_count = 0;
	}
	if (total > m->back_edges.capacity) {
		back = realloc(m->back_edges.v, total * sizeof(*back));
		if (!back) {
			free(last);
			return ERR_NOMEM;
		}
		m->back_edges.v = back;
		m->back_edges.capacity = total;
	}
	m->back_edges.count = total;
	invert(m, last, true);
	free(last);
	count_by_loop(m);
	return m->out_of_memory ? ERR_NOMEM : ERR_OK;
}
