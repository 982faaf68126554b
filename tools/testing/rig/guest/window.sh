# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The server's sequence window: N is what it advertises, H the history that it keeps.

KNOBS=${KNOBS:-/proc/sys/sunrpc}

# knob NAME VALUE: set one, and see that the kernel took it.
knob() {
	[ -w "$KNOBS/$1" ] || die "server kernel has no $1 in $KNOBS: SERVER= must have the patch that adds it"
	echo "$2" 2>/dev/null >"$KNOBS/$1" || die "the server kernel refuses $1=$2"
	[ "$(cat "$KNOBS/$1")" = "$2" ] || die "$1 is $(cat "$KNOBS/$1"), not $2"
}

# set_window: what the condition wants of contexts to come. N first: H may not be less.
set_window() {
	[ -n "$WINDOW" ] || return 0
	knob gss_svc_window "$WINDOW"
	knob gss_svc_history "$WINDOW"
}

# told_window FILE: "N H" of the contexts that the server's kernel listed there, the largest if
# they differ. A kernel that lists none has 128 for both.
told_window() {
	local window=128 history=128 handle n h
	if [ -s "$1" ]; then
		while read -r handle n h _; do
			[ "${handle#\#}" = "$handle" ] || continue
			[ "$n" -gt "$window" ] && window=$n
			[ "$h" -gt "$history" ] && history=$h
		done <"$1"
	fi
	echo "$window $history"
}
