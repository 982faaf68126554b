// SPDX-License-Identifier: GPL-2.0
/*
 * Make every read of one file take its time, whoever reads.
 *
 * The kernel asks before it reads (FAN_ACCESS_PERM), and gets its answer late. For nfsd that
 * is an operation that is slow after its Call has passed every check, like a COMMIT that waits
 * for a disk. Files that are already open are not seen.
 *
 * slowread --file PATH [--delay 1500]
 * The delay is in ms. It ends with SIGTERM: then all reads that wait go on, and it reports.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <unistd.h>

#include "peer.h"

#define WAITING	1024		/* reads at once; a thread of nfsd each */

/* Reads that wait, in the order in which they came and go on. */
static struct {
	int		fd;		/* of the file, as the kernel names the read */
	uint64_t	due;
} waiting[WAITING];

static unsigned long first, last, delay = 1500;
static const char *file;
static volatile sig_atomic_t ended;

static void release(int fanotify)
{
	struct fanotify_response answer = { .response = FAN_ALLOW };

	answer.fd = waiting[first++ % WAITING].fd;
	if (write(fanotify, &answer, sizeof(answer)) != sizeof(answer))
		bail_out("a read cannot go on: %s", strerror(errno));
	close(answer.fd);
}

static void take(int fanotify)
{
	struct fanotify_event_metadata events[64], *event = events;
	ssize_t len = read(fanotify, events, sizeof(events));

	if (len < 0 && errno != EAGAIN && errno != EINTR)
		bail_out("fanotify: %s", strerror(errno));
	for (; FAN_EVENT_OK(event, len); event = FAN_EVENT_NEXT(event, len)) {
		if (last - first == WAITING)
			release(fanotify);
		waiting[last % WAITING].fd = event->fd;
		waiting[last++ % WAITING].due = now_ms() + delay;
	}
}

/* Milliseconds until a read may go on; -1 if none waits. */
static int rest(void)
{
	uint64_t now = now_ms(), due = waiting[first % WAITING].due;

	if (first == last)
		return -1;
	return due > now ? (int)(due - now) : 0;
}

static void run(int fanotify)
{
	struct pollfd polls = { .fd = fanotify, .events = POLLIN };
	int wait;

	while (!ended) {
		wait = rest();
		/* Not for ever: the signal may have come just now. */
		if (poll(&polls, 1, wait < 0 || wait > 1000 ? 1000 : wait) > 0)
			take(fanotify);
		while (!rest())
			release(fanotify);
	}
	while (first < last)
		release(fanotify);
}

static void end(int signal)
{
	(void)signal;
	ended = true;
}

int main(int argc, char **argv)
{
	const struct option_row rows[] = {
		{ "file", NULL, &file }, { "delay", &delay, NULL }, { NULL, NULL, NULL },
	};
	struct sigaction action = { .sa_handler = end };
	int fanotify;

	setvbuf(stdout, NULL, _IOLBF, 0);
	read_options(argc, argv, rows);
	sigaction(SIGTERM, &action, NULL);
	fanotify = fanotify_init(FAN_CLASS_CONTENT | FAN_NONBLOCK | FAN_CLOEXEC, O_RDONLY);
	if (fanotify < 0)
		bail_out("fanotify: %s", strerror(errno));
	if (!file || fanotify_mark(fanotify, FAN_MARK_ADD, FAN_ACCESS_PERM, AT_FDCWD, file))
		bail_out("--file %s: %s", file ? file : "", file ? strerror(errno) : "missing");
	printf("# every read of %s takes %lu ms\n", file, delay);
	run(fanotify);
	printf("slow_reads %lu\n", last);
	return 0;
}
