# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Runs a program of the folder tools/ beside the load. It prints KTAP and a summary line with
# its counts, which the host reads.

# tool NAME ARGUMENT...
tool() {
	local name=$1 ktap=/host/raw/ktap status
	shift
	"/host/tools/$name" "$@" >$ktap 2>&1
	status=$?
	cat $ktap
	grep -q '^# summary: errors=' $ktap ||
		die "$name ended with status $status: $(grep '^Bail out!' $ktap || tail -n 1 $ktap)"
}
