/* SPDX-License-Identifier: Apache-2.0 */
/* htop's keys where htop has them. */
#include "tui/keys.h"

#include <stddef.h>

#define F(n) (PRESS_F1 + (n)-1)

const struct key_row key_rows[] = {
	{{F(1), '?', 'h'}, ACT_HELP, "F1 ? h", "F1", "Help", "these lines"},
	{{'1'}, ACT_OVERVIEW, "1", NULL, NULL, "overview: process, loops, findings, tasks"},
	{{'2'},
	 ACT_TASK,
	 "2",
	 NULL,
	 NULL,
	 "the selected task: its await chain with source lines, its history"},
	{{'3'}, ACT_LOOP, "3", NULL, NULL, "a loop: ready queue, timers, descriptors, executor"},
	{{'4'}, ACT_THREADS, "4", NULL, NULL, "threads: state, system call, GIL, stacks"},
	{{'5'},
	 ACT_FINDINGS,
	 "5",
	 NULL,
	 NULL,
	 "findings, those that are gone too, with their evidence"},
	{{'6', 'p'}, ACT_PROCESSES, "6 p", NULL, NULL, "choose a process (with --children)"},
	{{PRESS_UP, 'k'}, ACT_UP, "Up k", NULL, NULL, "one line up"},
	{{PRESS_DOWN, 'j'}, ACT_DOWN, "Down j", NULL, NULL, "one line down"},
	{{PRESS_LEFT}, ACT_LEFT, "Left", NULL, NULL, "long lines: back to their beginning"},
	{{PRESS_RIGHT}, ACT_RIGHT, "Right", NULL, NULL, "long lines: on to their end"},
	{{PRESS_PAGE_UP}, ACT_PAGE_UP, "PgUp", NULL, NULL, "one page up"},
	{{PRESS_PAGE_DOWN}, ACT_PAGE_DOWN, "PgDn", NULL, NULL, "one page down"},
	{{PRESS_HOME, 'g'}, ACT_HOME, "Home g", NULL, NULL, "to the first line"},
	{{PRESS_END, 'G'}, ACT_END, "End G", NULL, NULL, "to the last line"},
	{{PRESS_ENTER, '\r'},
	 ACT_ENTER,
	 "Enter",
	 NULL,
	 NULL,
	 "the selected task; a folded row opens and closes"},
	{{PRESS_ESCAPE, PRESS_BACKSPACE},
	 ACT_BACK,
	 "Esc",
	 NULL,
	 NULL,
	 "back to the overview; there: drops the filter"},
	{{'/', F(3)},
	 ACT_SEARCH,
	 "F3 /",
	 "F3",
	 "Search",
	 "to the next task with these letters in name, wait or place"},
	{{'n'},
	 ACT_NEXT_FOUND_OR_NATIVE,
	 "n",
	 NULL,
	 NULL,
	 "search again; threads' screen: native stacks too, which stops all threads for a moment"},
	{{'\\', F(4)},
	 ACT_FILTER,
	 "F4 \\",
	 "F4",
	 "Filter",
	 "only tasks with these letters in name, wait or place"},
	{{'t', F(5)},
	 ACT_TREE,
	 "F5 t",
	 "F5",
	 "Tree",
	 "tasks as a tree of who awaits whom, or as a list"},
	{{'>', '<', F(6)},
	 ACT_SORT,
	 "F6 > <",
	 "F6",
	 "Sort",
	 "choose the column to sort by; so does a click on its title"},
	{{'I'}, ACT_REVERSE, "I", NULL, NULL, "sort the other way round"},
	{{'f', F(7)}, ACT_FOLD, "F7 f", "F7", "Fold", "alike tasks as one row, or one by one"},
	{{'\t'}, ACT_NEXT_ONE, "Tab", NULL, NULL, "loop's screen: the next loop"},
	{{' ', F(8)}, ACT_HOLD, "F8 Space", "F8", "Pause", "the picture stands still, and goes on"},
	{{'+', '='}, ACT_FASTER, "+", NULL, NULL, "draw more often"},
	{{'-'}, ACT_SLOWER, "-", NULL, NULL, "draw less often"},
	{{'s', F(9)},
	 ACT_SAVE,
	 "F9 s",
	 "F9",
	 "Save",
	 "save this picture as JSON; the status line names the file"},
	{{'q', 'Q', F(10)}, ACT_QUIT, "F10 q", "F10", "Quit", "quit"},
	{{0}, ACT_NONE, NULL, NULL, NULL, NULL},
};

enum action key_action(int32_t press)
{
	for (const struct key_row *k = key_rows; k->action; k++) {
		for (unsigned i = 0; i < 4 && k->presses[i]; i++) {
			if (k->presses[i] == press)
				return k->action;
		}
	}
	return ACT_NONE;
}

const struct key_row *key_foot(unsigned number)
{
	for (const struct key_row *k = key_rows; k->action; k++) {
		if (k->foot && number-- == 0)
			return k;
	}
	return NULL;
}
