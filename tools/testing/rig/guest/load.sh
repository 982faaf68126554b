# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the loads written in shell share: a clock, counted errors, latencies.
#
# A load runs until its seconds are over, counts what failed and goes on. It reports in
# /host/raw/load (name=value) and /host/raw/latency ("ms usec kind" per operation).
ERRORS=0
BYTES=0
OPERATIONS=0

now_us() { echo "${EPOCHREALTIME/./}"; }
START=$(now_us)

# running: is there time left? A load makes at least one pass.
running() { [ $(($(now_us) - START)) -lt $((RUNTIME * 1000000)) ]; }

# try KIND COMMAND: run one operation; log its latency, count its failure.
try() {
	local kind=$1 complaint=/tmp/load.$BASHPID.err begin end
	shift
	begin=$(now_us)
	if ! "$@" 2>"$complaint"; then
		ERRORS=$((ERRORS + 1))
		echo "$kind failed: $(head -n 1 "$complaint")"
	fi
	end=$(now_us)
	OPERATIONS=$((OPERATIONS + 1))
	echo "$(((end - START) / 1000)) $((end - begin)) $kind" >>/tmp/latency
}

report() {
	local spent=$(($(now_us) - START))
	[ -e /tmp/latency ] && cp /tmp/latency /host/raw/latency
	printf '%s\n' "errors=$ERRORS" "bytes=$BYTES" "operations=$OPERATIONS" \
		"usec=$spent" >/host/raw/load || die "the result cannot be put on the share"
}
