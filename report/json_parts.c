/* SPDX-License-Identifier: Apache-2.0 */
/* See json_parts.h. */
#include "report/json_parts.h"

#include "report/text.h"

#include <stdlib.h>

void json_frame(struct json_writer *w, const struct model *m, uint32_t frame)
{
	const struct frame *f = frame == NONE ? NULL : &m->frames.v[frame];

	if (!f) {
		json_null(w);
		return;
	}
	json_map(w);
	json_key_str(w, "function", f->function);
	json_key_str(w, "file", f->file);
	json_key_count(w, "line", f->line > 0 ? f->line : -1);
	if (f->image.ptr)
		json_key_str(w, "image", f->image);
	json_map_end(w);
}

void json_stack(struct json_writer *w, const struct model *m, uint32_t chain)
{
	uint32_t depth = chain == NONE ? 0 : m->chains.v[chain].depth;
	uint32_t *frames = malloc((depth + 1ul) * sizeof(*frames));

	json_list(w);
	if (!frames) {
		json_fail(w);
		depth = 0;
	}
	for (uint32_t i = depth; i > 0; i--, chain = m->chains.v[chain].outer)
		frames[i - 1] = m->chains.v[chain].frame;
	for (uint32_t i = 0; i < depth; i++)
		json_frame(w, m, frames[i]);
	json_list_end(w);
	free(frames);
}

void json_text(struct json_writer *w, struct str s)
{
	static const struct text_style whole = {.utf8 = true};
	struct text t = {0};

	text_safe(&t, &whole, s, SIZE_MAX);
	if (t.failed)
		json_fail(w);
	json_str(w, t.v ? text_str(&t) : STR_LIT(""));
	text_deinit(&t);
}
