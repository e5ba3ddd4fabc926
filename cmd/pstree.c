/* SPDX-License-Identifier: Apache-2.0 */
/* pstree: the tree of tasks. */
#include "cmd/commands.h"
#include "cmd/read.h"

int pstree_run(const struct cli *cli)
{
	return read_and_show(cli, tree_render);
}
