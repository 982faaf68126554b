// SPDX-License-Identifier: GPL-2.0
/*
 * Serve connections, one after the other as far as they have something to say.
 *
 * What waits on one connection is taken before the next gets its turn. So the order in which
 * Calls are judged is not the order in which a client sent them, as with any server that has
 * several threads.
 */
#define _GNU_SOURCE	/* accept4() */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "flow.h"
#include "peer.h"
#include "rpc.h"

#define FLOWS	64
#define ROOM_IN	(64 << 10)
#define ROOM_OUT (4 * FLOW_ANSWER)

struct flow {
	int	fd;
	size_t	in_len;
	size_t	out_done;
	size_t	out_len;
	uint8_t	in[ROOM_IN];
	uint8_t	out[ROOM_OUT];
};

static struct flow flows[FLOWS];

/**
 * flow_listen - wait for clients
 * @port: of TCP, on every address
 *
 * Return: a socket that does not block.
 */
int flow_listen(unsigned long port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd, on = 1;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		bail_out("socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (port > 65535 || bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, FLOWS))
		bail_out("--port %lu: %s", port, port > 65535 ? "no such port" : strerror(errno));
	return fd;
}

static struct flow *find_room(void)
{
	struct flow *flow;

	for (flow = flows; flow < flows + FLOWS; flow++)
		if (flow->fd < 0)
			return flow;
	return NULL;
}

static void take_connection(int listener)
{
	struct flow *flow = find_room();
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;

	if (fd < 0)
		return;
	if (!flow)
		bail_out("more than %d connections", FLOWS);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	flow->fd = fd;
	flow->in_len = 0;
	flow->out_done = 0;
	flow->out_len = 0;
}

/* Return: false if the connection is of no use any more. */
static bool transmit(struct flow *flow)
{
	ssize_t len;

	while (flow->out_done < flow->out_len) {
		len = send(flow->fd, flow->out + flow->out_done, flow->out_len - flow->out_done,
			   MSG_NOSIGNAL);
		if (len < 0)
			return errno == EAGAIN || errno == EINTR;
		flow->out_done += len;
	}
	flow->out_done = 0;
	flow->out_len = 0;
	return true;
}

static void put_answer(struct flow *flow, const uint8_t *record, size_t len, flow_answer answer)
{
	uint8_t *mark = flow->out + flow->out_len;
	struct writer out = { .at = mark + RPC_MARK, .left = FLOW_ANSWER - RPC_MARK };

	if (!answer(record + RPC_MARK, len - RPC_MARK, &out))
		return;
	if (out.full)
		bail_out("an answer of more than %d bytes", FLOW_ANSWER);
	flow->out_len += rpc_mark(mark, out.at);
}

static bool has_room(const struct flow *flow)
{
	return flow->out_len + FLOW_ANSWER <= ROOM_OUT;
}

/* Answer what is there, as far as there is room. Return: false if it makes no sense. */
static bool take_records(struct flow *flow, flow_answer answer)
{
	size_t at = 0, len;

	while (flow->in_len - at >= RPC_MARK && has_room(flow)) {
		len = rpc_record(flow->in + at, flow->in_len - at);
		if (!len || len > ROOM_IN)
			return false;
		if (len > flow->in_len - at)
			break;
		put_answer(flow, flow->in + at, len, answer);
		at += len;
		if (!has_room(flow) && !transmit(flow))
			return false;
	}
	flow->in_len -= at;
	memmove(flow->in, flow->in + at, flow->in_len);
	return true;
}

static bool receive(struct flow *flow)
{
	ssize_t len = read(flow->fd, flow->in + flow->in_len, ROOM_IN - flow->in_len);

	if (len > 0)
		flow->in_len += len;
	return len > 0 || (len < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool serve(struct flow *flow, short events, flow_answer answer)
{
	size_t before;

	if (events & (POLLIN | POLLERR | POLLHUP) && flow->in_len < ROOM_IN && !receive(flow))
		return false;
	/* Nothing that is complete may be left behind, unless its answer has no room. */
	do {
		before = flow->in_len;
		if (!transmit(flow) || !take_records(flow, answer) || !transmit(flow))
			return false;
	} while (flow->in_len && flow->in_len < before && !flow->out_len);
	return true;
}

static void turn(int listener, flow_answer answer)
{
	struct pollfd polls[FLOWS + 1] = { { .fd = listener, .events = POLLIN } };
	struct flow *flow;
	int i;

	for (i = 0; i < FLOWS; i++) {
		flow = &flows[i];
		polls[i + 1].fd = flow->fd;
		/* One who does not read his answers has to wait with his Calls. */
		polls[i + 1].events = flow->out_len ? POLLOUT : POLLIN;
	}
	if (poll(polls, FLOWS + 1, 1000) < 0) {
		if (errno != EINTR)
			bail_out("poll: %s", strerror(errno));
		return;
	}
	for (i = 0; i < FLOWS; i++) {
		flow = &flows[i];
		if (flow->fd >= 0 && polls[i + 1].revents &&
		    !serve(flow, polls[i + 1].revents, answer)) {
			close(flow->fd);
			flow->fd = -1;
		}
	}
	if (polls[0].revents)
		take_connection(listener);
}

/**
 * flow_serve - serve until somebody wants an end
 * @listener: of flow_listen()
 * @answer: answers a record
 * @end: becomes true
 */
void flow_serve(int listener, flow_answer answer, volatile sig_atomic_t *end)
{
	int i;

	for (i = 0; i < FLOWS; i++)
		flows[i].fd = -1;
	while (!*end)
		turn(listener, answer);
}
