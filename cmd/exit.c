/* SPDX-License-Identifier: Apache-2.0 */
/* Error kinds to exit codes, errors to one line. */
#include "cmd/exit.h"

#include "report/text.h"

#include <stdio.h>

int exit_code_of(enum err kind)
{
	switch (kind) {
	case ERR_OK:
		return EXIT_DONE;
	case ERR_USAGE:
		return EXIT_WRONG_USAGE;
	case ERR_GONE:
		return EXIT_NO_TARGET;
	default:
		return EXIT_NOT_INSPECTED;
	}
}

int exit_with(const struct error *e)
{
	const struct text_style plain = {.utf8 = true};
	struct text line = {0};

	text_safe(&line, &plain, str_from(e->text), SIZE_MAX);
	fprintf(stderr, "aiotrace: %.*s\n", STR_ARG(text_str(&line)));
	text_deinit(&line);
	return exit_code_of(e->kind);
}
