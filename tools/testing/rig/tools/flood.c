// SPDX-License-Identifier: GPL-2.0
/*
 * Flood a server with Calls for GSS contexts that do not exist.
 *
 * Each has a random handle and a random verifier, so nobody has to know a key to send it,
 * and the server has to refuse each with RPCSEC_GSS_CREDPROBLEM (RFC 2203, 5.3.3.3). What
 * such a Call leaves behind on the server is not seen from here.
 *
 * flood --server ADDRESS [--port 2049] [--seconds 10] [--rate 1000] [--connections 4]
 *       [--outstanding 64] [--handle 380]
 * The rate is in Calls a second over all connections, 0 for as many as possible. At most
 * 'outstanding' per connection wait for an answer.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"
#include "rpc.h"

#define CONNECTIONS	32	/* of at most 64 that a server takes from strangers */
#define ROOM		65536	/* for answers; each has some 24 bytes */
#define PAUSE_MS	100	/* after a connection was lost */
#define PATIENCE_MS	5000	/* for the last answers */

struct flow {
	int		fd;
	bool		connected;
	uint64_t	again;		/* when to connect */
	unsigned long	outstanding;
	size_t		out_done;
	size_t		out_len;
	size_t		in_len;
	uint8_t		out[RPC_JUNK];
	uint8_t		in[ROOM];
};

static unsigned long port = 2049, seconds = 10, rate = 1000, connections = 4;
static unsigned long outstanding = 64, handle_len = RPC_HANDLE;
static const char *server;
static struct sockaddr_in peer;
static struct flow flows[CONNECTIONS];

static struct {
	unsigned long	calls;
	unsigned long	refused;
	unsigned long	other;		/* answers that say something else */
	unsigned long	lost;		/* connections */
	unsigned long	connected;
} count;

static void reopen(struct flow *flow)
{
	close(flow->fd);
	flow->fd = -1;
	flow->again = now_ms() + PAUSE_MS;
	if (flow->connected)
		count.lost++;
}

static void open_flow(struct flow *flow)
{
	flow->connected = false;
	flow->outstanding = 0;
	flow->out_done = 0;
	flow->out_len = 0;
	flow->in_len = 0;
	flow->fd = peer_connect(&peer);
	if (flow->fd < 0)
		flow->again = now_ms() + PAUSE_MS;
}

static void read_answer(struct flow *flow, const uint8_t *data, size_t len)
{
	struct rpc_reply reply;

	if (rpc_read_reply(data, len, &reply) && reply.denied && reply.status == RPC_CREDPROBLEM)
		count.refused++;
	else
		count.other++;
	if (flow->outstanding)
		flow->outstanding--;
}

/* Return: false if the connection is of no use any more. */
static bool receive(struct flow *flow)
{
	size_t record, at = 0;
	ssize_t len;

	len = read(flow->fd, flow->in + flow->in_len, ROOM - flow->in_len);
	if (len < 0)
		return errno == EAGAIN;
	if (!len)
		return false;
	flow->in_len += len;
	while (flow->in_len - at >= RPC_MARK) {
		record = rpc_record(flow->in + at, flow->in_len - at);
		if (!record || record > ROOM) {
			count.other++;
			return false;
		}
		if (record > flow->in_len - at)
			break;
		read_answer(flow, flow->in + at, record);
		at += record;
	}
	flow->in_len -= at;
	memmove(flow->in, flow->in + at, flow->in_len);
	return true;
}

static bool due(uint64_t begin)
{
	return !rate || count.calls * 1000 < rate * (now_ms() - begin);
}

static bool transmit(struct flow *flow, uint64_t begin, bool more)
{
	ssize_t len;

	for (;;) {
		if (flow->out_done == flow->out_len) {
			if (!more || flow->outstanding >= outstanding || !due(begin))
				return true;
			flow->out_len = rpc_write_junk(flow->out, ++count.calls, handle_len);
			flow->out_done = 0;
			flow->outstanding++;
		}
		len = send(flow->fd, flow->out + flow->out_done, flow->out_len - flow->out_done,
			   MSG_NOSIGNAL);
		if (len < 0)
			return errno == EAGAIN;
		flow->out_done += len;
	}
}

static bool serve(struct flow *flow, short events, uint64_t begin, bool more)
{
	if (!flow->connected) {
		if (!(events & (POLLOUT | POLLERR | POLLHUP)))
			return true;
		if (events & (POLLERR | POLLHUP))
			return false;
		flow->connected = true;
		count.connected++;
	}
	if (events & (POLLIN | POLLERR | POLLHUP) && !receive(flow))
		return false;
	return transmit(flow, begin, more);
}

/* Wake up for the next Call: only where nothing but the rate is in the way. */
static int timeout(void)
{
	return rate ? 1 : 100;
}

static void turn(uint64_t begin, bool more)
{
	struct pollfd polls[CONNECTIONS];
	unsigned long i;

	for (i = 0; i < connections; i++) {
		struct flow *flow = &flows[i];

		if (flow->fd < 0 && more && now_ms() >= flow->again)
			open_flow(flow);
		polls[i].fd = flow->fd;
		polls[i].events = POLLIN;
		polls[i].revents = 0;
		if (!flow->connected || flow->out_done < flow->out_len)
			polls[i].events |= POLLOUT;
	}
	if (poll(polls, connections, timeout()) < 0 && errno != EINTR)
		bail_out("poll: %s", strerror(errno));
	for (i = 0; i < connections; i++)
		if (flows[i].fd >= 0 && !serve(&flows[i], polls[i].revents, begin, more))
			reopen(&flows[i]);
}

static bool waiting(void)
{
	unsigned long i;

	for (i = 0; i < connections; i++)
		if (flows[i].fd >= 0 && flows[i].outstanding)
			return true;
	return false;
}

static void run(void)
{
	uint64_t begin = now_ms(), end = begin + seconds * 1000;
	unsigned long i;

	for (i = 0; i < connections; i++)
		flows[i].fd = -1;
	while (now_ms() < end)
		turn(begin, true);
	while (waiting() && now_ms() < end + PATIENCE_MS)
		turn(begin, false);
}

static int report(void)
{
	unsigned long errors = count.other + !count.refused;

	printf("%s 1 the server answered\n", count.refused + count.other ? "ok" : "not ok");
	printf("%s 2 every answer refuses the handle\n", count.other ? "not ok" : "ok");
	printf("# %lu connections, %lu lost; %lu Calls, %lu answers of another kind\n",
	       count.connected, count.lost, count.calls, count.other);
	printf("# summary: errors=%lu operations=%lu junk_calls=%lu junk_lost=%lu\n", errors,
	       count.calls, count.refused, count.lost);
	return errors ? 1 : 0;
}

int main(int argc, char **argv)
{
	const struct option_row rows[] = {
		{ "server", NULL, &server }, { "port", &port, NULL },
		{ "seconds", &seconds, NULL }, { "rate", &rate, NULL },
		{ "connections", &connections, NULL }, { "outstanding", &outstanding, NULL },
		{ "handle", &handle_len, NULL }, { NULL, NULL, NULL },
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	read_options(argc, argv, rows);
	peer = peer_address(server, port);
	if (connections - 1 > CONNECTIONS - 1)
		bail_out("--connections %lu: wanted 1 to %d", connections, CONNECTIONS);
	if (handle_len > RPC_HANDLE)
		bail_out("--handle %lu: wanted at most %d", handle_len, RPC_HANDLE);
	if (!outstanding)
		bail_out("--outstanding 0: nothing would be sent");
	srand(time(NULL) ^ getpid());
	printf("KTAP version 1\n1..2\n");
	run();
	return report();
}
