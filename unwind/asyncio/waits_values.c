/* SPDX-License-Identifier: Apache-2.0 */
/* Values that descriptions of waits are made of, read forgivingly. */
#include "unwind/asyncio/waits.h"

#include <math.h>

vaddr wait_local(struct waiting *c, const char *name)
{
	const struct frame_walk *f = &c->chain->v[c->frame].position;
	vaddr value = 0;

	if (frame_local(c->r, f->at, f->info, name, &value) != ERR_OK || !value ||
	    object_is_none(c->r, value))
		return 0;
	return value;
}

vaddr wait_attr(struct waiting *c, vaddr object, const char *name)
{
	return attr_present(c->r, object, name);
}

int64_t wait_length(struct waiting *c, vaddr object, const char *attr)
{
	vaddr value = 0;
	int64_t length;

	if (!object || attr_get(c->r, object, attr, &value) != ERR_OK || !value)
		return -1;
	if (object_is_none(c->r, value))
		return 0;
	return object_length(c->r, value, &length) == ERR_OK && length >= 0 ? length : -1;
}

int64_t wait_number(struct waiting *c, vaddr object, const char *attr)
{
	int64_t value;

	return object && attr_long(c->r, object, attr, &value) == ERR_OK ? value : -1;
}

int wait_flag(struct waiting *c, vaddr object, const char *attr)
{
	bool value;

	return object && attr_bool(c->r, object, attr, &value) == ERR_OK ? value : -1;
}

double wait_due(struct waiting *c, vaddr handle)
{
	vaddr when = wait_attr(c, handle, "_when");
	double at;

	if (!when || object_float(c->r, when, &at) != ERR_OK || isnan(at))
		return NAN;
	return fmax(at - c->a->now, 0);
}

struct str wait_type_name(struct waiting *c, vaddr object)
{
	const struct type_info *t;

	return object && type_of(c->r, object, &t) == ERR_OK ? t->name : STR_LIT("?");
}

int wait_socket_fd(struct waiting *c, vaddr sock)
{
	const struct type_info *t;
	int64_t fd;

	if (!sock || type_of(c->r, sock, &t) != ERR_OK)
		return -1;
	if (!type_is(c->r, t, "_socket", "socket")) {
		vaddr inner = wait_attr(c, sock, "_sock"); /* asyncio.trsock.TransportSocket */

		if (!inner || type_of(c->r, inner, &t) != ERR_OK ||
		    !type_is(c->r, t, "_socket", "socket"))
			return -1;
		sock = inner;
	}
	if (read_int(c->r, sock, c->r->lay->socket_fd, &fd) != ERR_OK || fd < 0 || fd > INT32_MAX)
		return -1;
	return (int)fd;
}

void wait_say_fd(struct waiting *c, struct words *s, int fd)
{
	struct str what;

	if (fd < 0)
		return;
	words_add(s, ", fd %d", fd);
	if (!c->r->target || !c->r->target->fds)
		return;
	what = fds_describe(c->r->target->fds, fd, &c->r->model->text);
	if (what.ptr && what.len) {
		words_add(s, ", ");
		words_str(s, what, 300);
	}
}

void wait_detail(struct waiting *c, const struct words *s)
{
	c->out.detail = model_text(c->r->model, (struct str){s->text, s->len});
}
