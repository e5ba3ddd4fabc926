/* SPDX-License-Identifier: Apache-2.0 */
/* What surrounds each screen: the title, the foot; and words of several screens. */
#include "tui/view.h"

#include "report/handle_text.h"
#include "report/task_text.h"
#include "model/names.h"

#include <math.h>
#include <string.h>

#define COMMAND_COLUMNS 300

void spark(struct text *t, const struct text_style *style, const double *values, uint32_t count,
	   double least_top)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const plain[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
	double top = least_top;

	for (uint32_t i = 0; i < count; i++)
		top = fmax(top, values[i]);
	for (uint32_t i = 0; i < count; i++) {
		double part = top > 0 ? values[i] / top : 0;
		int step = part > 0 ? (int)ceil(part * 7) : 0;

		if (isnan(values[i]))
			text_add(t, " ");
		else
			text_add(t, (style->utf8 ? blocks : plain)[step > 7 ? 7 : step]);
	}
}

void list_fit(struct list *l, uint32_t count, uint32_t page, bool selects)
{
	uint32_t last = count > page ? count - page : 0;

	l->count = count;
	l->page = page;
	if (l->selected >= count)
		l->selected = count ? count - 1 : 0;
	if (selects && l->selected < l->top)
		l->top = l->selected;
	if (selects && page && l->selected >= l->top + page)
		l->top = l->selected - page + 1;
	if (l->top > last)
		l->top = last;
}

void view_scroll(struct ui *u, struct canvas *c, enum view view, struct str body, unsigned below,
		 bool wrap)
{
	struct list *l = &u->lists[view];
	uint32_t left = canvas_left(c), page = left > below ? left - below : 0, count;
	uint32_t before = c->count;
	size_t text = c->text.len;

	if (left == UINT32_MAX) {
		canvas_body(c, body, 0, UINT32_MAX, LINE_PLAIN, wrap);
		return;
	}
	count = canvas_body(c, body, l->top, page, LINE_PLAIN, wrap);
	if (count > page ? l->top <= count - page : l->top == 0) {
		list_fit(l, count, page, false);
		return;
	}
	/* It has become shorter than where it was scrolled to. */
	list_fit(l, count, page, false);
	canvas_end(c);
	c->count = before;
	c->text.len = text;
	canvas_body(c, body, l->top, page, LINE_PLAIN, wrap);
}

static void add_command(struct text *t, const struct text_style *style, const struct model *m)
{
	size_t left = COMMAND_COLUMNS;

	for (size_t i = 0; i < m->target.command_count && left > 1; i++) {
		struct str word = m->target.command[i];
		const char *slash = i ? NULL : memrchr(word.ptr, '/', word.len);

		/* Of the program its name: what it runs tells more than where it lies. */
		if (slash)
			word = (struct str){slash + 1, (uint32_t)(word.ptr + word.len - slash - 1)};
		if (i)
			text_add(t, " ");
		left -= text_safe(t, style, word, left - 1) + (i ? 1 : 0);
	}
}

static void add_bytes(struct text *t, double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	unsigned unit = 0;

	for (; bytes >= 1024 && unit < 4; unit++)
		bytes /= 1024;
	text_printf(t, bytes < 9.95 && unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

static void add_usage(struct text *t, const struct text_style *style, const struct usage *use)
{
	if (!isnan(use->cpu))
		text_printf(t, "cpu %.1f %%  ", use->cpu * 100);
	if (!isnan(use->resident_bytes)) {
		text_add(t, "memory ");
		add_bytes(t, use->resident_bytes);
		text_add(t, "  ");
	}
	if (!isnan(use->threads))
		text_printf(t, "threads %.0f  ", use->threads);
	if (!isnan(use->age)) {
		text_add(t, "up ");
		text_duration(t, style, use->age);
		text_add(t, "  ");
	}
}

static void add_sampling(struct text *t, const struct text_style *style, const struct scene *s)
{
	const struct snapshot_info *i = &s->m->snapshot;
	double rate = 1 / s->h->interval;

	if (isnan(rate) || isinf(rate)) {
		text_add(t, "first sample");
	} else if (rate * 1.5 < s->wanted_rate) {
		text_color(t, style, COLOR_WARN);
		text_printf(t, "%.1f of %.0f samples/s", rate, s->wanted_rate);
		text_color(t, style, COLOR_PLAIN);
	} else {
		text_printf(t, "%.0f samples/s", rate);
	}
	text_add(t, ", ");
	if (i->method == SNAPSHOT_TORN)
		text_color(t, style, COLOR_WARN);
	text_add(t, snapshot_method_name(i->method));
	text_color(t, style, COLOR_PLAIN);
	if (i->paused_us) {
		text_add(t, " for ");
		text_duration(t, style, (double)i->paused_us / 1e6);
	}
	if (s->note[0]) {
		text_add(t, "; ");
		text_color(t, style, COLOR_WARN);
		text_safe(t, style, str_from(s->note), 200);
		text_color(t, style, COLOR_PLAIN);
	}
}

void view_title(const struct ui *u, const struct scene *s, struct canvas *c)
{
	struct text *t = canvas_line(c, LINE_TITLE, NO_ROW);

	if (!s->m) {
		text_add(t, "aiotrace");
		canvas_line(c, LINE_PLAIN, NO_ROW);
		text_add(t, s->note[0] ? "" : "waiting for the first picture");
		text_safe(t, &c->style, str_from(s->note), 300);
		return;
	}
	text_printf(t, "%s%s  process %d  ", u->held ? "PAUSED " : "", s->clock,
		    (int)s->m->target.pid);
	text_printf(t, "CPython %s  ", s->m->target.python);
	if (s->m->target.container)
		text_add(t, "in a container  ");
	add_command(t, &c->style, s->m);
	canvas_line(c, LINE_PLAIN, NO_ROW);
	add_usage(t, &c->style, &s->usage);
	if (s->m->tasks_truncated)
		text_add(t, "at least ");
	text_number(t, s->m->tasks.count);
	text_add(t, s->m->tasks.count == 1 ? " task  " : " tasks  ");
	add_sampling(t, &c->style, s);
	if (s->ended[0]) {
		canvas_line(c, LINE_ALARM, NO_ROW);
		text_safe(t, &c->style, str_from(s->ended), 300);
	}
}

static void add_keys(const struct ui *u, struct text *t)
{
	const struct key_row *k;

	for (unsigned i = 0; (k = key_foot(i)) != NULL; i++)
		text_printf(t, "%s%s ", k->foot_key, k->foot);
	text_printf(t, "1-5 screens  +- %g pictures/s", u->rate);
}

void view_foot(const struct ui *u, const struct scene *s, struct canvas *c)
{
	struct text *t;

	(void)s;
	while (canvas_left(c) > 2)
		canvas_line(c, LINE_PLAIN, NO_ROW);
	t = canvas_line(c, u->message[0] ? LINE_TITLE : LINE_PLAIN, NO_ROW);
	if (u->prompt == PROMPT_NONE) {
		text_safe(t, &c->style, str_from(u->message), c->width);
	} else {
		text_add(t, u->prompt == PROMPT_SEARCH ? "search: " : "filter: ");
		text_safe(t, &c->style,
			  str_from(u->prompt == PROMPT_SEARCH ? u->search : u->filter), 200);
		text_add(t, "_   ");
		if (u->message[0])
			text_safe(t, &c->style, str_from(u->message), c->width);
		else
			text_add(t, "(Enter: done, Esc: drop it)");
	}
	add_keys(u, canvas_line(c, LINE_FOOT, NO_ROW));
}

const struct finding_track *view_loop_finding(const struct scene *s, vaddr loop)
{
	static const char *const ids[] = {"dead-loop", "stalled-loop", "blocked-loop"};

	for (size_t k = 0; k < sizeof(ids) / sizeof(*ids); k++) {
		for (uint32_t i = 0; i < s->h->finding_count; i++) {
			const struct finding_track *f = &s->h->findings[i];

			if (f->standing && f->loop == loop && strcmp(f->id, ids[k]) == 0)
				return f;
		}
	}
	return NULL;
}

void view_loop_state(struct text *t, const struct text_style *style, const struct scene *s,
		     const struct loop *l)
{
	const struct loop_track *k = history_loop(s->h, l->id);
	const struct finding_track *f = view_loop_finding(s, l->id);
	double held = k ? loop_track_held(k, s->h->last) : NAN;
	const char *word = loop_state_name(l->state);

	if (held >= s->blocked_after || (f && strcmp(f->id, "blocked-loop") == 0)) {
		text_color(t, style, COLOR_BAD);
		text_add(t, "blocked");
		if (!isnan(held)) {
			text_add(t, " for ");
			text_duration(t, style, held);
		}
	} else if (f) {
		text_color(t, style, COLOR_BAD);
		text_add_bytes(t, f->id, strlen(f->id) - strlen("-loop"));
		text_add(t, " for ");
		text_duration(t, style, finding_track_stood(f));
	} else {
		text_color(t, style, l->state == LOOP_POLLING ? COLOR_GOOD : COLOR_WARN);
		text_add(t, word ? word : "state unreadable");
	}
	text_color(t, style, COLOR_PLAIN);
}

static void add_running(struct text *t, const struct text_style *style, const struct model *m,
			const struct paths *paths, const struct loop *l)
{
	struct text words = {0};

	if (l->current_task != NONE) {
		const struct task *task = &m->tasks.v[l->current_task];
		uint32_t frame = task_own_frame(m, task->chain);

		text_add(t, ", runs ");
		text_color(t, style, COLOR_NAME);
		text_safe(t, style, task->name, 60);
		text_color(t, style, COLOR_PLAIN);
		if (frame != NONE) {
			text_add(t, " in ");
			frame_function(t, style, &m->frames.v[frame], 60);
			text_add(t, " ");
			frame_place(t, style, paths, &m->frames.v[frame]);
		}
		return;
	}
	if (l->running == NONE)
		return;
	handle_words(&words, m, &m->handles.v[l->running]);
	text_add(t, ", runs ");
	text_safe(t, style, text_str(&words), 80);
	text_deinit(&words);
}

static void add_graph(struct text *t, const struct text_style *style, const struct loop_track *k,
		      unsigned columns, bool lag)
{
	double values[HISTORY_SECONDS];

	if (columns > HISTORY_SECONDS)
		columns = HISTORY_SECONDS;
	if (lag)
		loop_track_lag(k, values, columns);
	else
		loop_track_ready(k, values, columns);
	text_color(t, style, COLOR_DIM);
	spark(t, style, values, columns, lag ? 0.05 : 4);
	text_color(t, style, COLOR_PLAIN);
}

/* Ready queue, timers, descriptors: what a loop holds. */
static void add_counts(struct text *t, const struct loop *l)
{
	if (!l->inner_read) {
		text_add(t, "  its queues can't be read");
		return;
	}
	text_add(t, "  ready ");
	text_number(t, l->ready_count);
	text_add(t, "  timers ");
	text_number(t, l->timers_count);
	if (l->timers_cancelled) {
		text_add(t, " (");
		text_number(t, l->timers_cancelled);
		text_add(t, " cancelled)");
	}
	if (l->fds_read)
		text_printf(t, "  fds %u", l->fds_count);
}

static void add_shares(struct text *t, const struct loop_track *k)
{
	struct loop_second sum = loop_track_sum(k);

	if (!sum.samples)
		return;
	text_printf(t, "polls %.0f %%, runs %.0f %%, waits for the GIL %.0f %%",
		    100.0 * sum.polling / sum.samples, 100.0 * sum.running / sum.samples,
		    100.0 * sum.gil / sum.samples);
	if (sum.stalled)
		text_printf(t, ", stalled %.0f %%", 100.0 * sum.stalled / sum.samples);
}

/* On their own line where both do not fit behind the shares. */
static void add_graphs(struct text *t, struct canvas *c, const struct loop_track *k)
{
	unsigned columns = c->width < 100 ? c->width / 2 : (c->width - 74) / 2;

	if (c->width < 100) {
		canvas_line(c, LINE_PLAIN, NO_ROW);
		columns -= columns > 12 ? 8 : 0;
	}
	text_add(t, "  ready ");
	add_graph(t, &c->style, k, columns, false);
	text_add(t, "  lag ");
	add_graph(t, &c->style, k, columns, true);
}

void view_loop_lines(const struct scene *s, struct canvas *c, const struct loop *l, bool graphs)
{
	const struct loop_track *k = history_loop(s->h, l->id);
	const struct model *m = s->m;
	struct text *t = canvas_line(c, LINE_PLAIN, NO_ROW);
	struct paths paths;

	text_color(t, &c->style, COLOR_BOLD);
	text_add(t, "loop ");
	text_color(t, &c->style, COLOR_PLAIN);
	view_loop_state(t, &c->style, s, l);
	paths_init(&paths, m);
	add_running(t, &c->style, m, &paths, l);
	if (l->thread == NONE)
		text_add(t, ", run by no thread, ");
	else
		text_printf(t, ", thread %d, ", m->threads.v[l->thread].tid);
	text_safe(t, &c->style, l->cls == NONE ? STR_LIT("?") : m->strings.v[l->cls], 40);
	if (l->debug)
		text_add(t, ", debug mode");
	canvas_line(c, LINE_PLAIN, NO_ROW);
	add_counts(t, l);
	if (!k)
		return;
	text_add(t, "  lag ");
	if (k->lag > 0)
		text_duration(t, &c->style, k->lag);
	else
		text_add(t, "none");
	if (!isnan(k->switches_rate))
		text_printf(t, "  GIL turns %.0f/s", k->switches_rate);
	canvas_line(c, LINE_PLAIN, NO_ROW);
	text_add(t, "  last minute: ");
	add_shares(t, k);
	if (graphs)
		add_graphs(t, c, k);
}
