# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Runs a program of tools/testing/selftests/sunrpc as a load. It prints KTAP, which goes to
# the log, and a summary line with its counts.

# selftest NAME: run it on the mount and report what it counted.
selftest() {
	local ktap=/host/raw/ktap status summary field
	MNT=$MNT DURATION=$RUNTIME SEED=$SEED STALL=90 KILL_MS=$KILL_MS "/host/selftests/$1" >$ktap 2>&1
	status=$?
	cat $ktap
	[ $status = 4 ] && die "$1 was skipped: $(sed -n 's/.*# SKIP //p' $ktap | tail -n 1)"
	summary=$(sed -n 's/^# summary: //p' $ktap | tail -n 1)
	[ -n "$summary" ] || die "$1 ended with status $status and without a summary"
	# The function report of load.sh reads them.
	# shellcheck disable=SC2034
	for field in $summary; do
		case $field in
		errors=*) ERRORS=${field#*=} ;;
		bytes=*) BYTES=${field#*=} ;;
		operations=*) OPERATIONS=${field#*=} ;;
		esac
	done
	# A test that failed without a count of errors failed all the same.
	[ $status != 0 ] && [ "$ERRORS" = 0 ] && ERRORS=1
	report
}
