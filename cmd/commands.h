/* SPDX-License-Identifier: Apache-2.0 */
/* The commands' functions: each in the file of its name. */
#ifndef AIOTRACE_CMD_COMMANDS_H
#define AIOTRACE_CMD_COMMANDS_H

struct cli;

int pstree_run(const struct cli *cli);
int ps_run(const struct cli *cli);
int check_run(const struct cli *cli);
int run_run(const struct cli *cli);
int doctor_run(const struct cli *cli);

#endif
