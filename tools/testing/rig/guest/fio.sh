# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# fio on the mount, past the page cache. An I/O error is counted and the load goes on.

# run_fio ARGUMENT...: what to read and write; its report and latencies go to the share.
run_fio() {
	# One point of the latency log per interval, the worst in it: some 5000 points in all.
	local interval=$((RUNTIME * 8 / 5)) thread=
	[ $interval -lt 20 ] && interval=20
	[ -d /proc/sysvipc ] || thread=--thread

	cd /tmp || exit 1
	# An empty option must vanish; fio itself expands $jobnum.
	# shellcheck disable=SC2086,SC2016
	fio --name=load --directory="$MNT/load" --filename_format='file.$jobnum' $thread \
		--size=16m --ioengine=libaio --direct=1 "$@" \
		--time_based --runtime="$RUNTIME" \
		--continue_on_error=io --group_reporting --unified_rw_reporting=both \
		--percentile_list=50:99:99.99 --eta=never --output-format=json \
		--output=/tmp/fio.json \
		--write_lat_log=/tmp/load --log_avg_msec=$interval --log_max_value=1 ||
		echo "fio: exit status $?"
	cp /tmp/fio.json /host/raw/fio.json || die "no result of fio"
	cat /tmp/load_clat.*.log >/host/raw/fio.log || die "no latency log of fio"
}
