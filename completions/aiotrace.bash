# SPDX-License-Identifier: Apache-2.0
# bash completion for aiotrace(1).

_aiotrace()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=
	local look='--pause= --max-pause= --color= --verbose -v --help -h'
	local read="--children --json $look"
	local judge='--sample= --blocked-after= --only= --ignore='
	local check="$judge --fail-on= --native"
	local top='--rate= --batch= --native --blocked-after= --only= --ignore='
	local run="$judge --timeout= --stall= --grace= --report="
	local findings='await-cycle blocked-loop cancelled-timer-leak dead-loop enter-task-window executor-saturated gil-starved lost-wakeup never-retrieved ready-backlog shared-loop stalled-loop swallowed-cancel'
	local tree='--threads --native --loop --task= --max-depth= --no-fold --watch='

	if (( COMP_CWORD == 1 )); then
		mapfile -t COMPREPLY < <(compgen -W 'pstree ps top check run doctor help --help -h --version' -- "$cur")
		return
	fi
	# "--pause=au" comes as three words.
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	case $prev in
	--pause)
		mapfile -t COMPREPLY < <(compgen -W 'auto never always' -- "$cur")
		return
		;;
	--color)
		mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur")
		return
		;;
	--fail-on)
		mapfile -t COMPREPLY < <(compgen -W 'info warning critical' -- "$cur")
		return
		;;
	--only | --ignore)
		mapfile -t COMPREPLY < <(compgen -W "$findings" -- "$cur")
		return
		;;
	--report)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return
		;;
	--rate | --batch | --sample | --blocked-after | --timeout | --stall | --grace | --max-pause | --task | --max-depth | --watch)
		return
		;;
	esac
	command=${COMP_WORDS[1]}
	if [[ $cur == -* ]]; then
		case $command in
		pstree | ps)
			mapfile -t COMPREPLY < <(compgen -W "$tree $read" -- "$cur")
			;;
		check)
			mapfile -t COMPREPLY < <(compgen -W "$check $read" -- "$cur")
			;;
		top)
			mapfile -t COMPREPLY < <(compgen -W "$top $read" -- "$cur")
			;;
		run)
			mapfile -t COMPREPLY < <(compgen -W "$run $look" -- "$cur")
			;;
		doctor)
			mapfile -t COMPREPLY < <(compgen -W "$read" -- "$cur")
			;;
		esac
		[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
		return
	fi
	if [[ $command == run ]]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$(pgrep -d ' ' -f python 2>/dev/null)" -- "$cur")
}

complete -F _aiotrace aiotrace
