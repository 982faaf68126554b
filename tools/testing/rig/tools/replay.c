// SPDX-License-Identifier: GPL-2.0
/*
 * Send again, as a stranger, Calls of a mount that were seen on the wire.
 *
 * The server has accepted each of them once, with its sequence number, so it must refuse each
 * now: close the connection that it came on, without a Reply. Three distances from the newest
 * number matter: inside the window N that the server advertises, past it but inside the
 * history H that it keeps, and past H. They are read from the Calls that go by.
 *
 * replay --device NAME --server ADDRESS [--port 2049] [--seconds 10] [--window 128]
 *        [--history 128] [--enough 0] [--patience 10]
 * It ends before its time once each distance has been tried 'enough' times, unless that is 0.
 * The server has 'patience' seconds to close a connection.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "book.h"
#include "peer.h"
#include "sniff.h"

#define SHOWN		10	/* complaints that are printed */

enum outcome {
	PENDING,
	REFUSED,	/* closed without a word */
	ANSWERED,
	SILENT,
	NO_CONNECTION,
};

/* A Call being sent again; one at a time. */
struct attempt {
	int		fd;
	struct kept	*kept;
	size_t		sent;
	bool		connected;
	uint32_t	before;
	uint64_t	deadline;
	uint8_t		answer[256];
};

static unsigned long port = 2049, seconds = 10, enough, patience = 10;
static const char *server, *device;
static struct sockaddr_in peer;
static struct book book = { .window = 128, .history = 128 };
static struct attempt attempt = { .fd = -1 };

static struct {
	unsigned long	refused;
	unsigned long	wrong;
	unsigned long	missed;		/* refused, but not at the distance it was meant for */
	uint32_t	low;
	uint32_t	high;
} count[DISTANCES];

static const char * const names[] = { "near", "mid", "far" };
static unsigned long complaints;

static void complain(enum outcome outcome, ssize_t len)
{
	struct rpc_reply reply = { 0 };

	if (complaints++ >= SHOWN)
		return;
	printf("# %s: seqno %u, %u behind: ", names[attempt.kept->distance],
	       attempt.kept->seqno, attempt.before);
	if (outcome == SILENT)
		printf("neither closed nor answered\n");
	else if (outcome == NO_CONNECTION)
		printf("the connection was lost before the Call was sent\n");
	else if (!rpc_read_reply(attempt.answer, len, &reply))
		printf("answered with %zd bytes\n", len);
	else
		printf("%s, status %u\n", reply.denied ? "denied in a Reply" : "accepted",
		       reply.status);
}

static void note(enum distance distance, uint32_t before, uint32_t after)
{
	if (!at_distance(&book, distance, before, after)) {
		count[distance].missed++;
		return;
	}
	if (!count[distance].refused || before < count[distance].low)
		count[distance].low = before;
	if (after > count[distance].high)
		count[distance].high = after;
	count[distance].refused++;
}

static void end_attempt(enum outcome outcome, ssize_t len)
{
	enum distance distance = attempt.kept->distance;

	if (outcome == REFUSED) {
		note(distance, attempt.before, behind(attempt.kept));
	} else {
		count[distance].wrong++;
		complain(outcome, len);
	}
	close(attempt.fd);
	attempt.fd = -1;
	book_drop(attempt.kept);
}

static void begin_attempt(struct kept *kept)
{
	attempt.kept = kept;
	attempt.sent = 0;
	attempt.connected = false;
	attempt.before = behind(kept);
	attempt.deadline = now_ms() + patience * 1000;
	attempt.fd = peer_connect(&peer);
	if (attempt.fd < 0)
		end_attempt(NO_CONNECTION, 0);
}

static bool all_sent(void)
{
	return attempt.sent == attempt.kept->len;
}

static enum outcome transmit(short events)
{
	ssize_t len;

	if (!attempt.connected) {
		if (events & (POLLERR | POLLHUP))
			return NO_CONNECTION;
		attempt.connected = true;
		attempt.before = behind(attempt.kept);
	}
	len = send(attempt.fd, attempt.kept->record + attempt.sent,
		   attempt.kept->len - attempt.sent, MSG_NOSIGNAL);
	if (len < 0)
		return errno == EAGAIN ? PENDING : NO_CONNECTION;
	attempt.sent += len;
	return PENDING;
}

static void serve(short events)
{
	enum outcome outcome = PENDING;
	ssize_t len = 0;

	if (!all_sent() && events & (POLLOUT | POLLERR | POLLHUP)) {
		outcome = transmit(events);
	} else if (all_sent() && events & (POLLIN | POLLERR | POLLHUP)) {
		len = read(attempt.fd, attempt.answer, sizeof(attempt.answer));
		if (len > 0)
			outcome = ANSWERED;
		else if (!len || errno != EAGAIN)
			outcome = REFUSED;
	}
	if (outcome == PENDING && now_ms() >= attempt.deadline)
		outcome = all_sent() ? SILENT : NO_CONNECTION;
	if (outcome != PENDING)
		end_attempt(outcome, len);
}

static void watch(int wire)
{
	struct segment segment;
	int found;

	while ((found = sniff_next(wire, &segment)) >= 0) {
		if (!found)
			continue;
		if (segment.to == peer.sin_addr.s_addr && segment.to_port == port)
			book_calls(&book, segment.data, segment.len, segment.from_port, now_ms());
		else if (segment.from == peer.sin_addr.s_addr && segment.from_port == port)
			book_replies(&book, segment.data, segment.len, segment.to_port);
	}
}

static bool done(uint64_t end)
{
	bool tried = enough;
	int i;

	for (i = 0; i < DISTANCES; i++)
		if (count[i].refused + count[i].wrong < enough &&
		    (i != MIDDLE || has_middle(&book)))
			tried = false;
	return tried || now_ms() >= end;
}

static void run(int wire)
{
	uint64_t end = now_ms() + seconds * 1000;
	struct pollfd polls[2] = { { .fd = wire, .events = POLLIN } };
	struct kept *kept;

	while (attempt.fd >= 0 || !done(end)) {
		polls[1].fd = attempt.fd;
		polls[1].events = attempt.fd >= 0 && !all_sent() ? POLLOUT : POLLIN;
		polls[1].revents = 0;
		if (poll(polls, 2, 100) < 0 && errno != EINTR)
			bail_out("poll: %s", strerror(errno));
		/* The wire first: 'after' is to count all that went before the answer. */
		watch(wire);
		if (attempt.fd >= 0) {
			serve(polls[1].revents);
		} else if (!done(end)) {
			kept = book_ripe(&book);
			if (kept)
				begin_attempt(kept);
		}
	}
}

static unsigned long point(enum distance distance, const char *name)
{
	bool skipped = distance == MIDDLE && !has_middle(&book);
	bool good = count[distance].refused && !count[distance].wrong;

	printf("%s %d %s%s\n", good || skipped ? "ok" : "not ok", distance + 1, name,
	       skipped ? " # SKIP no room between N and H" : "");
	if (skipped)
		return 0;
	printf("# %s: %lu refused, %u to %u behind; %lu not refused; %lu came off the distance\n",
	       names[distance], count[distance].refused, count[distance].low,
	       count[distance].high, count[distance].wrong, count[distance].missed);
	if (!count[distance].refused && !count[distance].wrong)
		printf("# %s: no Call was ever that old\n", names[distance]);
	return good ? 0 : count[distance].wrong ? count[distance].wrong : 1;
}

static int report(int wire)
{
	unsigned long errors, missed = 0;
	int i;

	errors = point(NEAR, "a Call sent again at once, inside N, is refused");
	errors += point(MIDDLE, "a Call sent again past N, inside H, is refused");
	errors += point(FAR, "a Call sent again past H is refused");
	for (i = 0; i < DISTANCES; i++)
		missed += count[i].missed;
	printf("# N %lu, H %lu, %u contexts, newest seqno %u, %lu packets overlooked\n",
	       book.window, book.history, book.known, book.contexts[0].newest, sniff_lost(wire));
	printf("# summary: errors=%lu replay_near=%lu replay_mid=%lu replay_far=%lu "
	       "replay_missed=%lu\n", errors, count[NEAR].refused, count[MIDDLE].refused,
	       count[FAR].refused, missed);
	return errors ? 1 : 0;
}

int main(int argc, char **argv)
{
	const struct option_row rows[] = {
		{ "device", NULL, &device }, { "server", NULL, &server },
		{ "port", &port, NULL }, { "seconds", &seconds, NULL },
		{ "window", &book.window, NULL }, { "history", &book.history, NULL },
		{ "enough", &enough, NULL }, { "patience", &patience, NULL },
		{ NULL, NULL, NULL },
	};
	int wire;

	setvbuf(stdout, NULL, _IOLBF, 0);
	read_options(argc, argv, rows);
	peer = peer_address(server, port);
	if (!book.window || book.history < book.window)
		bail_out("--window %lu --history %lu: wanted 1 <= N <= H", book.window,
			 book.history);
	wire = sniff_open(device);
	printf("KTAP version 1\n1..%d\n", DISTANCES);
	run(wire);
	return report(wire);
}
