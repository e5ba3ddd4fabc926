/* SPDX-License-Identifier: Apache-2.0 */
/* All findings with their evidence and advice; those that are gone greyed, with how often they came and how long they stood. */
#include "tui/view.h"

static void put_counts(struct text *t, const struct text_style *style, const struct scene *s,
		       const struct finding_track *f)
{
	if (f->standing) {
		text_add(t, "stands for ");
		text_duration(t, style, finding_track_stood(f));
	} else {
		text_add(t, "gone since ");
		text_duration(t, style, s->h->last - f->last);
	}
	text_add(t, "; came ");
	text_number(t, f->times);
	text_add(t, f->times == 1 ? " time, longest " : " times, longest ");
	text_duration(t, style, f->longest);
	text_add(t, ", in ");
	text_number(t, f->samples);
	text_add(t, " of ");
	text_number(t, s->h->samples);
	text_add(t, " samples\n");
}

/* What is too short for samples was watched for between them. */
static void put_watched(struct text *t, const struct text_style *style,
			const struct finding_track *f)
{
	const struct loop_watched *w = &f->watched;

	if (!f->brief || !w->samples)
		return;
	text_add(t, "    watched: ");
	text_number(t, w->windows);
	text_add(t, w->windows == 1 ? " window" : " windows");
	if (w->longest > 0) {
		text_add(t, ", longest ");
		text_duration(t, style, w->longest);
	} else {
		text_add(t, w->windows == 1 ? ", seen but once" : ", each seen but once");
	}
	text_add(t, ", in ");
	text_number(t, w->seen);
	text_add(t, " of ");
	text_number(t, w->samples);
	text_add(t, " samples of the watch\n");
}

static void put_finding(struct text *t, const struct text_style *style, const struct scene *s,
			const struct finding_track *f)
{
	struct str details = finding_track_details(f);

	text_color(t, style,
		   !f->standing			      ? COLOR_DIM
		   : f->severity == SEVERITY_CRITICAL ? COLOR_BAD
		   : f->severity == SEVERITY_WARNING  ? COLOR_WARN
						      : COLOR_BOLD);
	text_add_bytes(t, f->headline.v, f->headline.len);
	text_add(t, "\n");
	text_color(t, style, f->standing ? COLOR_PLAIN : COLOR_DIM);
	text_add(t, "    ");
	put_counts(t, style, s, f);
	put_watched(t, style, f);
	text_add_bytes(t, details.ptr, details.len);
	text_color(t, style, COLOR_PLAIN);
	text_add(t, "\n");
}

void view_findings(struct ui *u, const struct scene *s, struct canvas *c)
{
	const struct history *h = s->h;
	struct text body = {0};

	if (!h->finding_count)
		text_add(&body, "nothing found so far\n");
	for (uint32_t i = 0; i < h->finding_count; i++)
		put_finding(&body, &c->style, s, &h->findings[i]);
	c->failed |= body.failed;
	view_scroll(u, c, VIEW_FINDINGS, text_str(&body), 2, true);
	text_deinit(&body);
}
