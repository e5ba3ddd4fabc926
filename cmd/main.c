/* SPDX-License-Identifier: Apache-2.0 */
/* The program's entry: locale, pipes, then the command line. */
#include "cmd/cli.h"

#include <locale.h>
#include <signal.h>

/* Ignoring would pass on to the commands that are run; a function does not. */
static void on_pipe(int number)
{
	(void)number;
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	/* A reader that went away is a write error, and ends quietly. */
	if (signal(SIGPIPE, on_pipe) == SIG_IGN)
		signal(SIGPIPE, SIG_IGN);
	return cli_main(argc, argv);
}
