/* SPDX-License-Identifier: Apache-2.0 */
/* See facts.h. */
#include "unwind/facts.h"

#include <stdlib.h>

enum err thread_facts_take(pid_t pid, struct thread_facts *ret)
{
	struct proc_thread *list = NULL;
	size_t count = 0;
	enum err err = proc_threads(pid, &list, &count, NULL);

	*ret = (struct thread_facts){0};
	if (err != ERR_OK)
		return err;
	ret->v = calloc(count + 1, sizeof(*ret->v));
	for (size_t i = 0; ret->v && i < count; i++)
		ret->v[i].thread = list[i];
	ret->count = ret->v ? count : 0;
	free(list);
	return ret->v ? ERR_OK : ERR_NOMEM;
}

void thread_facts_add_calls(pid_t pid, struct thread_facts *f)
{
	for (size_t i = 0; i < f->count; i++) {
		struct thread_fact *fact = &f->v[i];

		fact->call_known = proc_syscall_read(pid, fact->thread.tid, &fact->call) == ERR_OK;
		if (fact->call_known && fact->thread.state == 'S' &&
		    (fact->call.running || fact->call.number < 0))
			fact->thread.state = 'R';
	}
}

static int by_tid(const void *key, const void *element)
{
	pid_t a = *(const pid_t *)key, b = ((const struct still_thread *)element)->tid;

	return a < b ? -1 : a > b;
}

void thread_facts_keep(struct thread_facts *f, const struct still *now)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->count; i++) {
		if (bsearch(&f->v[i].thread.tid, now->v, now->count, sizeof(*now->v), by_tid))
			f->v[kept++] = f->v[i];
	}
	f->count = kept;
}

void thread_facts_deinit(struct thread_facts *f)
{
	free(f->v);
	*f = (struct thread_facts){0};
}
