/* SPDX-License-Identifier: Apache-2.0 */
/* ps: the table of tasks. */
#include "cmd/commands.h"
#include "cmd/read.h"

int ps_run(const struct cli *cli)
{
	return read_and_show(cli, table_render);
}
