/* SPDX-License-Identifier: Apache-2.0 */
/* Facts by section, then the verdict and what mends it. */
#include "report/doctor.h"

#include "report/json_writer.h"

#include <errno.h>

#define NAME_WIDTH 22

static void put_fact(struct text *t, const struct text_style *s, const struct doctor_fact *f)
{
	size_t used;

	text_add(t, "  ");
	text_add(t, f->name);
	used = strlen(f->name);
	text_spaces(t, used < NAME_WIDTH ? NAME_WIDTH - used : 1);
	text_color(t, s, f->bad ? COLOR_BAD : COLOR_PLAIN);
	text_safe(t, s, f->value, 400);
	text_color(t, s, COLOR_PLAIN);
	text_add(t, "\n");
}

static void put_verdict(struct text *t, const struct text_style *s, const struct doctor_report *d)
{
	text_add(t, "\n");
	text_color(t, s, d->readable ? COLOR_GOOD : COLOR_BAD);
	if (d->readable)
		text_add(t, "aiotrace can read this process");
	else
		text_safe(t, s, str_from(d->problem), SIZE_MAX);
	text_color(t, s, COLOR_PLAIN);
	text_add(t, "\n");
	if (!d->remedy[0])
		return;
	text_add(t, "to mend it: ");
	text_safe(t, s, str_from(d->remedy), SIZE_MAX);
	text_add(t, "\n");
}

enum err doctor_render(FILE *out, const struct doctor_report *d, const struct text_style *s,
		       struct error *e)
{
	struct text t = {0};
	const char *section = "";
	bool failed;

	text_printf(&t, "process %d: ", (int)d->pid);
	text_safe(&t, s, d->command, s->width > 40 ? s->width - 20 : 200);
	text_add(&t, "\n");
	for (size_t i = 0; i < d->count; i++) {
		if (strcmp(section, d->facts[i].section) != 0) {
			section = d->facts[i].section;
			text_add(&t, "\n");
			text_color(&t, s, COLOR_BOLD);
			text_add(&t, section);
			text_color(&t, s, COLOR_PLAIN);
			text_add(&t, "\n");
		}
		put_fact(&t, s, &d->facts[i]);
	}
	put_verdict(&t, s, d);
	failed = t.failed || fwrite(t.v, 1, t.len, out) != t.len || fflush(out) != 0;
	text_deinit(&t);
	return failed ? error_set(e, ERR_SYSTEM, errno, "can't write to standard output") : ERR_OK;
}

static void put_document(struct json_writer *w, const struct doctor_report *d)
{
	const char *section = "";

	json_map(w);
	json_key(w, "schema");
	json_word(w, "aiotrace/1");
	json_key(w, "doctor");
	json_map(w);
	json_key(w, "pid");
	json_int(w, d->pid);
	json_key(w, "command");
	json_str(w, d->command);
	json_key(w, "readable");
	json_bool(w, d->readable);
	json_key(w, "problem");
	json_word(w, d->problem[0] ? d->problem : NULL);
	json_key(w, "remedy");
	json_word(w, d->remedy[0] ? d->remedy : NULL);
	for (size_t i = 0; i < d->count; i++) {
		if (strcmp(section, d->facts[i].section) != 0) {
			if (section[0])
				json_map_end(w);
			section = d->facts[i].section;
			json_key(w, section);
			json_map(w);
		}
		json_key(w, d->facts[i].name);
		json_str(w, d->facts[i].value);
	}
	if (section[0])
		json_map_end(w);
	json_map_end(w);
	json_map_end(w);
}

enum err doctor_json(FILE *out, const struct doctor_report *const *reports, size_t count, bool many,
		     struct error *e)
{
	struct json_writer *w = json_open(out);

	if (!w)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	if (many) {
		json_map(w);
		json_key(w, "schema");
		json_word(w, "aiotrace/1");
		json_key(w, "processes");
		json_list(w);
	}
	for (size_t i = 0; i < count; i++)
		put_document(w, reports[i]);
	if (many) {
		json_list_end(w);
		json_map_end(w);
	}
	return json_close(w, e);
}
