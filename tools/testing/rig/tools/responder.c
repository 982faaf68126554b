// SPDX-License-Identifier: GPL-2.0
/*
 * Be a server with a small GSS window that drops late Calls without a word.
 *
 * It lets a client set up Kerberos contexts with the machine's keytab, mount a toy file
 * system and read. Calls that are behind by the window or more get no Reply, and their
 * connection stays; so it goes with every so manieth Reply if that is asked for. A client
 * that lets its numbers run too far apart, or waits for an answer that never comes, shows.
 *
 * responder [--port 2049] [--window 8] [--lose 0]
 * It serves until it gets SIGTERM, and then reports.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "flow.h"
#include "gss.h"
#include "peer.h"
#include "toyfs.h"
#include "window.h"

static unsigned long port = 2049, window = 8, lose;
static volatile sig_atomic_t ended;

static struct {
	unsigned long	answered;
	unsigned long	reads;
	unsigned long	junk;		/* no Calls */
	uint64_t	last;		/* when the last READ was served */
	uint64_t	pause;		/* the longest time between two of them */
} count;

/* A pause in the READs shows how long one lost number kept the others waiting. */
static void note_read(void)
{
	uint64_t now = now_ms();

	if (count.reads++ && now - count.last > count.pause)
		count.pause = now - count.last;
	count.last = now;
}

static bool serve_open(struct call *call, struct writer *out)
{
	if (!toyfs_is_open(call)) {
		reply_deny(out, call, AUTH_TOOWEAK);
		return true;
	}
	reply_begin(out, call);
	put_word(out, AUTH_NONE);
	put_opaque(out, NULL, 0);
	toyfs_serve(call, out);
	return true;
}

static bool answer(const uint8_t *record, size_t len, struct writer *out)
{
	enum outcome outcome;
	struct call call;

	if (!call_read(record, len, &call)) {
		count.junk++;
		return false;
	}
	if (call.flavor != AUTH_GSS)
		return serve_open(&call, out);
	outcome = gss_call(&call, out);
	if (outcome == SERVE) {
		toyfs_serve(&call, out);
		count.answered++;
		if (toyfs_is_read(&call))
			note_read();
	}
	return outcome != DROP;
}

static unsigned long point(int number, bool good, const char *name)
{
	printf("%s %d %s\n", good ? "ok" : "not ok", number, name);
	return !good;
}

static int report(void)
{
	unsigned long errors;

	errors = point(1, gss_counts.contexts, "a client set up a context");
	errors += point(2, count.reads, "a client read");
	errors += point(3, !gss_counts.denied && !count.junk,
			"every Call had a good credential and verifier");
	printf("# %lu contexts, %lu failed; %lu denied; %lu records that are no Call\n",
	       gss_counts.contexts, gss_counts.failed, gss_counts.denied, count.junk);
	printf("# window %lu: %lu accepted, newest %u; highest lag %u, dropped: %lu low, %lu seen\n",
	       window, gss_counts.accepted, gss_counts.newest, gss_counts.max_lag, gss_counts.low,
	       gss_counts.seen);
	printf("# %lu answered, %lu replies lost on purpose; no READ for %llu ms at most\n",
	       count.answered, gss_counts.lost, (unsigned long long)count.pause);
	printf("# summary: errors=%lu operations=%lu rsp_answered=%lu rsp_newest=%u rsp_max_lag=%u "
	       "rsp_low=%lu rsp_seen=%lu rsp_lost=%lu rsp_pause_ms=%llu\n", errors, count.reads,
	       count.answered, gss_counts.newest, gss_counts.max_lag, gss_counts.low,
	       gss_counts.seen, gss_counts.lost, (unsigned long long)count.pause);
	return errors ? 1 : 0;
}

static void end(int signal)
{
	(void)signal;
	ended = true;
}

int main(int argc, char **argv)
{
	const struct option_row rows[] = {
		{ "port", &port, NULL }, { "window", &window, NULL }, { "lose", &lose, NULL },
		{ NULL, NULL, NULL },
	};
	struct sigaction action = { .sa_handler = end };
	int listener;

	setvbuf(stdout, NULL, _IOLBF, 0);
	read_options(argc, argv, rows);
	if (window - 1 > WINDOW_MOST - 1)
		bail_out("--window %lu: wanted 1 to %d", window, WINDOW_MOST);
	sigaction(SIGTERM, &action, NULL);
	gss_setup(window, lose);
	listener = flow_listen(port);
	printf("KTAP version 1\n1..3\n");
	flow_serve(listener, answer, &ended);
	return report();
}
