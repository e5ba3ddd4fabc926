# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
#
# What the setup scripts share: where the cache is, how to become root, how to install Debian packages
# only when one is missing, how to try again when the network hiccups.

project=$(dirname "$(dirname "$(readlink -f "$0")")")
cache=${AIOTRACE_CACHE:-/var/cache/aiotrace}

say() {
	echo "${0##*/}: $*" >&2
}

die() {
	say "$*"
	exit 1
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "needs root (or sudo) for: $*"
	fi
}

# retry COMMAND...: up to three times, for steps that need the network.
retry() {
	for pause in 5 20 0; do
		"$@" && return 0
		[ "$pause" -eq 0 ] || { say "failed, trying again in $pause s: $*"; sleep "$pause"; }
	done
	return 1
}

# packages_missing NAME...: those that are not installed, one a line.
packages_missing() {
	for package; do
		case $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) in
		ii*) ;;
		*) echo "$package" ;;
		esac
	done
}

apt_get() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@"
}

# apt_install NAME...: asks the network only when something is missing.
apt_install() {
	command -v dpkg-query >/dev/null || die "only Debian and its relatives are set up by this script; install by hand: $*"
	missing=$(packages_missing "$@")
	[ -n "$missing" ] || return 0
	say "installing" $missing
	retry apt_get update >&2 || die "apt-get update failed"
	# shellcheck disable=SC2086 # a list of names
	retry apt_get install --no-install-recommends $missing >&2 || die "could not install:" $missing
}
