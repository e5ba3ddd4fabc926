/* SPDX-License-Identifier: Apache-2.0 */
/* The only place where an error record is filled. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

enum err error_set(struct error *e, enum err kind, int sys, const char *format, ...)
{
	va_list args;

	if (!e)
		return kind;
	e->kind = kind;
	e->sys = sys;
	va_start(args, format);
	vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	return kind;
}
