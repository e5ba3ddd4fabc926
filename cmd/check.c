/* SPDX-License-Identifier: Apache-2.0 */
/* check: judges one process, or with --children a family of them, and answers with the exit code. */
#include "cmd/commands.h"

#include "cmd/exit.h"
#include "cmd/read.h"
#include "cmd/sample.h"
#include "report/findings.h"

#include <stdio.h>

static enum err show(const struct cli *cli, const struct pictures *p, struct error *e)
{
	const struct text_style style = output_style(cli);
	enum err err = ERR_OK;

	if (cli->json)
		return pictures_json(cli, p, e);
	for (size_t i = 0; i < p->count && err == ERR_OK; i++) {
		if (i)
			fputc('\n', stdout);
		err = findings_render(stdout, p->v[i], &style, e);
	}
	return err;
}

int check_run(const struct cli *cli)
{
	struct pictures p = {0};
	struct error e = {0};
	enum err err = pictures_take(cli, sample_process, &p, &e);
	int code = EXIT_DONE;

	if (err == ERR_OK)
		err = show(cli, &p, &e);
	for (size_t i = 0; i < p.count; i++) {
		if (sample_worst(p.v[i]) >= (int)cli->fail_on)
			code = EXIT_FINDINGS;
	}
	pictures_deinit(&p);
	return err == ERR_OK ? code : exit_with(&e);
}
