/* SPDX-License-Identifier: Apache-2.0 */
#include "model/watch.h"

void watch_tell(const struct watch *w, struct model *m)
{
	for (uint32_t i = 0; i < m->loops.count; i++) {
		struct loop *l = &m->loops.v[i];

		l->watched = (struct loop_watched){.samples = w->spans[w->span].samples};
		for (uint32_t k = 0; k < w->count; k++) {
			const struct window_counts *c = &w->v[k].spans[w->span];

			if (w->v[k].loop != l->id)
				continue;
			l->watched.seen += c->samples;
			l->watched.windows += c->windows - c->continued;
			if (c->longest > l->watched.longest)
				l->watched.longest = c->longest;
		}
	}
}
