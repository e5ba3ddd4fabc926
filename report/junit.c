/* SPDX-License-Identifier: Apache-2.0 */
/* Written as text: the escaping is all that such a document needs. */
#include "report/junit.h"

#include "base/utf8.h"
#include "report/summary.h"

#include <stdlib.h>

static const struct text_style plain = {.utf8 = true};

static bool allowed(int32_t c)
{
	return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0xd7ff) ||
	       (c >= 0xe000 && c <= 0xfffd) || (c >= 0x10000 && c <= 0x10ffff);
}

static const char *reference(int32_t c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\t':
		return "&#9;";
	case '\r':
		return "&#13;";
	default:
		return NULL;
	}
}

void xml_escape(struct text *t, struct str from)
{
	for (size_t at = 0; at < from.len;) {
		size_t start = at;
		int32_t c = utf8_decode(from.ptr, from.len, &at);
		const char *as = reference(c);

		if (!allowed(c))
			text_add(t, "\xef\xbf\xbd");
		else if (as)
			text_add(t, as);
		else
			text_add_bytes(t, from.ptr + start, at - start);
	}
}

static void add_attribute(struct text *t, const char *name, struct str value)
{
	text_printf(t, " %s=\"", name);
	xml_escape(t, value);
	text_add(t, "\"");
}

/* The whole of it, as it stands on standard error. */
static enum err add_words(struct text *t, const struct stuck_process *p, struct error *e)
{
	char *words = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&words, &size);
	enum err err;

	if (!memory)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	err = stuck_render(memory, p, &plain, e);
	if (fclose(memory) != 0 && err == ERR_OK)
		err = error_set(e, ERR_NOMEM, 0, "out of memory");
	if (err == ERR_OK)
		xml_escape(t, (struct str){words, (uint32_t)size});
	free(words);
	return err;
}

static void add_case(struct text *t, const struct stuck *all, const struct stuck_process *p,
		     struct text *words)
{
	uint32_t place = stuck_place(p);

	text_clear(words);
	stuck_name(words, &plain, p);
	text_add(t, "    <testcase classname=\"aiotrace.run\"");
	add_attribute(t, "name", text_str(words));
	if (place != NONE) {
		const struct frame *f = &p->picture->frames.v[place];

		add_attribute(t, "file", f->file);
		if (f->line > 0)
			text_printf(t, " line=\"%d\"", f->line);
	}
	text_printf(t, " time=\"%.3f\">\n      <failure", all->ran);
	add_attribute(t, "type", str_from(all->reason));
	text_clear(words);
	stuck_headline(words, &plain, all);
	text_add(words, ": ");
	stuck_sentence(words, &plain, p);
	add_attribute(t, "message", text_str(words));
	text_add(t, ">");
}

enum err junit_write(FILE *out, const struct stuck *all, struct error *e)
{
	struct text t = {0}, words = {0};
	enum err err = ERR_OK;

	text_add(&t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	text_printf(
		&t,
		"  <testsuite name=\"aiotrace run\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"0\" time=\"%.3f\">\n",
		all->count, all->count, all->ran);
	for (size_t i = 0; i < all->count && err == ERR_OK; i++) {
		add_case(&t, all, &all->v[i], &words);
		err = add_words(&t, &all->v[i], e);
		text_add(&t, "</failure>\n    </testcase>\n");
		t.failed |= words.failed;
		if (err == ERR_OK)
			err = text_write(&t, out, e);
	}
	text_add(&t, "  </testsuite>\n</testsuites>\n");
	if (err == ERR_OK)
		err = text_write(&t, out, e);
	text_deinit(&t);
	text_deinit(&words);
	return err;
}
