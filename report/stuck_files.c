/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a report's folder, and lines for GitHub's runner. */
#include "report/stuck.h"

#include "report/json_parts.h"
#include "report/summary.h"

#define COLUMNS_MOST 1000

static const struct text_style plain = {.utf8 = true};

const char *stuck_file_name(const struct stuck_process *p, char *buf, size_t size)
{
	snprintf(buf, size, "process-%d.json", (int)p->pid);
	return buf;
}

static void put_process(struct json_writer *w, const struct stuck_process *p)
{
	const struct target_info *i = &p->picture->target;
	char name[40];

	json_map(w);
	json_key_int(w, "pid", p->pid);
	json_key_int(w, "parent", p->parent);
	json_key(w, "command");
	json_list(w);
	for (size_t k = 0; k < i->command_count; k++)
		json_str(w, i->command[k]);
	json_list_end(w);
	json_key_word(w, "python", p->python ? i->python : NULL);
	json_key_count(w, "findings", p->judged ? (int64_t)p->picture->findings.count : -1);
	json_key_word(w, "document", p->python ? stuck_file_name(p, name, sizeof(name)) : NULL);
	json_key(w, "problem");
	if (p->problem[0])
		json_text(w, str_from(p->problem));
	else
		json_null(w);
	json_map_end(w);
}

enum err stuck_index_json(FILE *out, const struct stuck *all, struct error *e)
{
	struct json_writer *w = json_open(out);

	if (!w)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	json_map(w);
	json_key_word(w, "schema", "aiotrace/1");
	json_key_word(w, "aiotrace", AIOTRACE_VERSION);
	json_key(w, "run");
	json_map(w);
	json_key(w, "command");
	json_list(w);
	for (char *const *a = all->command; *a; a++)
		json_text(w, str_from(*a));
	json_list_end(w);
	json_key_word(w, "reason", all->reason);
	json_key_double(w, "limit", all->limit);
	json_key_double(w, "ran", all->ran);
	json_key(w, "processes");
	json_list(w);
	for (size_t i = 0; i < all->count; i++)
		put_process(w, &all->v[i]);
	json_list_end(w);
	json_map_end(w);
	json_map_end(w);
	return json_close(w, e);
}

/* The runner's own escapes: of all values %, CR and LF, of properties : and , too. */
static void add_escaped(struct text *t, struct str from, bool property)
{
	struct text safe = {0};

	text_safe(&safe, &plain, from, COLUMNS_MOST);
	for (size_t i = 0; i < safe.len; i++) {
		char c = safe.v[i];

		if (c == '%' || (property && (c == ':' || c == ',')))
			text_printf(t, "%%%02X", (unsigned)c);
		else
			text_add_bytes(t, &c, 1);
	}
	text_deinit(&safe);
}

static struct str below(struct str file, const char *folder)
{
	size_t n = folder ? strlen(folder) : 0;

	while (n && folder[n - 1] == '/')
		n--;
	if (n && file.len > n + 1 && memcmp(file.ptr, folder, n) == 0 && file.ptr[n] == '/')
		return (struct str){file.ptr + n + 1, file.len - (uint32_t)n - 1};
	return file;
}

static void add_annotation(struct text *t, const struct stuck *all, const struct stuck_process *p,
			   uint32_t place, const char *workspace)
{
	struct text words = {0};

	stuck_headline(&words, &plain, all);
	text_add(t, "::error title=");
	add_escaped(t, text_str(&words), true);
	if (place != NONE) {
		const struct frame *f = &p->picture->frames.v[place];

		text_add(t, ",file=");
		add_escaped(t, below(f->file, workspace), true);
		if (f->line > 0)
			text_printf(t, ",line=%d", f->line);
	}
	text_add(t, "::");
	text_clear(&words);
	stuck_sentence(&words, &plain, p);
	text_add(&words, " (");
	stuck_name(&words, &plain, p);
	text_add(&words, ")");
	add_escaped(t, text_str(&words), false);
	text_add(t, "\n");
	t->failed |= words.failed;
	text_deinit(&words);
}

enum err stuck_annotations(FILE *out, const struct stuck *all, const char *workspace,
			   struct error *e)
{
	struct text t = {0};
	enum err err;

	for (size_t i = 0; i < all->count; i++) {
		uint32_t place = stuck_place(&all->v[i]);

		if (place != NONE)
			add_annotation(&t, all, &all->v[i], place, workspace);
	}
	if (!t.len && all->count)
		add_annotation(&t, all, &all->v[0], NONE, workspace);
	err = text_write(&t, out, e);
	text_deinit(&t);
	return err;
}
