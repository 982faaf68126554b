# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What every guest script needs: the condition, names, and waits with a limit.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C
# The host writes every name that is used here and in the scripts.
# shellcheck source=/dev/null
. /host/env
ROLE=$(sed -n 's/.*rig\.role=\([a-z]*\).*/\1/p' /proc/cmdline)
export ROLE MNT=/mnt/nfs

# die TEXT: the host shows this line as the cause.
die() {
	echo "rig: $*"
	exit 1
}

# await WHAT SECONDS COMMAND: repeat the command until it succeeds, or die naming WHAT.
await() {
	local what=$1 limit=$2 end
	shift 2
	end=$((SECONDS + limit))
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || die "waited $limit s in vain for $what"
		sleep 0.05
	done
}

# holds_open PROGRAM PATTERN: has a process of that name opened such a file?
holds_open() {
	local pid
	for pid in $(pidof "$1"); do
		find "/proc/$pid/fd" -lname "*$2*" 2>/dev/null | grep -q . && return 0
	done
	return 1
}

# daemon NAME COMMAND: run it in the background, its output in /run/log/NAME.log.
daemon() {
	local name=$1
	shift
	setsid "$@" >"/run/log/$name.log" 2>&1 </dev/null &
}

kerberos() { [ "$SEC" != sys ]; }
