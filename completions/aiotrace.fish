# SPDX-License-Identifier: Apache-2.0
# fish completion for aiotrace(1).

set -l commands pstree ps top check run doctor help
set -l reading pstree ps top check doctor
set -l looking $reading run
set -l judging check run top
set -l sampling check run
set -l findings await-cycle blocked-loop cancelled-timer-leak dead-loop enter-task-window executor-saturated gil-starved lost-wakeup never-retrieved ready-backlog shared-loop stalled-loop swallowed-cancel
set -l tree pstree ps

complete -c aiotrace -f
complete -c aiotrace -n "not __fish_seen_subcommand_from $commands" -a pstree -d 'What every task waits on, as a tree'
complete -c aiotrace -n "not __fish_seen_subcommand_from $commands" -a ps -d 'The same as a table, one task a row'
complete -c aiotrace -n "not __fish_seen_subcommand_from $commands" -a top -d 'A dashboard of all that, live'
complete -c aiotrace -n "not __fish_seen_subcommand_from $commands" -a check -d 'What is wrong, with an exit code'
complete -c aiotrace -n "not __fish_seen_subcommand_from $commands" -a run -d 'Run a command; when it is stuck, say why'
complete -c aiotrace -n "not __fish_seen_subcommand_from $commands" -a doctor -d 'What can be read of a process and how'
complete -c aiotrace -n "not __fish_seen_subcommand_from $commands" -a help -d 'List the commands'
complete -c aiotrace -n "not __fish_seen_subcommand_from $commands" -l version -d 'Show the version'
complete -c aiotrace -n "__fish_seen_subcommand_from $reading" -a '(__fish_complete_pids)'

complete -c aiotrace -n "__fish_seen_subcommand_from $tree" -l threads -d 'Every thread too: system call, GIL, Python stack'
complete -c aiotrace -n "__fish_seen_subcommand_from $tree" -l native -d 'The same with native frames; stops all threads for a moment'
complete -c aiotrace -n "__fish_seen_subcommand_from $tree" -l loop -d 'Ready queue, timers, descriptors and executor too'
complete -c aiotrace -n "__fish_seen_subcommand_from $tree" -l task -x -d 'Only tasks whose name matches'
complete -c aiotrace -n "__fish_seen_subcommand_from $tree" -l max-depth -x -d 'Levels of tasks below each other'
complete -c aiotrace -n "__fish_seen_subcommand_from $tree" -l no-fold -d 'Alike tasks one by one'
complete -c aiotrace -n "__fish_seen_subcommand_from $tree" -l watch -x -d 'Repeat every so many seconds'

complete -c aiotrace -n "__fish_seen_subcommand_from $sampling" -l sample -x -d 'How long to watch, milliseconds'
complete -c aiotrace -n "__fish_seen_subcommand_from check" -l fail-on -x -a 'info warning critical' -d 'Exit 1 from this severity on'
complete -c aiotrace -n "__fish_seen_subcommand_from check" -l native -d 'Native functions too; stops all threads for a moment'
complete -c aiotrace -n "__fish_seen_subcommand_from $judging" -l blocked-after -x -d 'How long a callback may hold its loop'
complete -c aiotrace -n "__fish_seen_subcommand_from $judging" -l only -x -a "$findings" -d 'These findings alone'
complete -c aiotrace -n "__fish_seen_subcommand_from $judging" -l ignore -x -a "$findings" -d 'Not these findings'

complete -c aiotrace -n "__fish_seen_subcommand_from top" -l rate -x -d 'Pictures a second'
complete -c aiotrace -n "__fish_seen_subcommand_from top" -l batch -x -d 'Print so many pictures as text'
complete -c aiotrace -n "__fish_seen_subcommand_from top" -l native -d 'Native functions too; stops all threads again and again'

complete -c aiotrace -n "__fish_seen_subcommand_from run" -l timeout -x -d 'Give the command up after so many seconds'
complete -c aiotrace -n "__fish_seen_subcommand_from run" -l stall -x -d 'Give it up when nothing has moved for so long'
complete -c aiotrace -n "__fish_seen_subcommand_from run" -l grace -x -d 'Seconds between SIGTERM and SIGKILL'
complete -c aiotrace -n "__fish_seen_subcommand_from run" -l report -x -a '(__fish_complete_directories)' -d 'Write the diagnosis there too'
complete -c aiotrace -n "__fish_seen_subcommand_from run" -x -a '(__fish_complete_subcommand)'

complete -c aiotrace -n "__fish_seen_subcommand_from $reading" -l children -d 'Every Python process below it too'
complete -c aiotrace -n "__fish_seen_subcommand_from $reading" -l json -d 'One JSON document'
complete -c aiotrace -n "__fish_seen_subcommand_from $looking" -l pause -x -a 'auto never always' -d 'May it be stopped'
complete -c aiotrace -n "__fish_seen_subcommand_from $looking" -l max-pause -x -d 'Longest stop allowed, milliseconds'
complete -c aiotrace -n "__fish_seen_subcommand_from $looking" -l color -x -a 'auto always never' -d 'Colours'
complete -c aiotrace -n "__fish_seen_subcommand_from $looking" -s v -l verbose -d 'Say what is done and how long it takes'
complete -c aiotrace -s h -l help -d 'Show help'
