// SPDX-License-Identifier: GPL-2.0
/*
 * Kill the TCP connections of an NFS mount, by SOCK_DESTROY.
 *
 * Only established connections: a client that fails to connect may pick another
 * source port, which is part of the key of the server's duplicate reply cache.
 */
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "conn_kill.h"
#include "workers.h"

#define CONNECTIONS	64	/* more than nconnect= allows */
#define PORTS		65536

struct killer {
	pid_t			pid;
	unsigned long		killed;
	unsigned int		ports;		/* different source ports */
	bool			seen[PORTS];
	int			error;
};

struct request {
	struct nlmsghdr			head;
	struct inet_diag_req_v2		diag;
};

static int send_request(int fd, int type, int flags, const struct inet_diag_req_v2 *diag)
{
	struct request request = {
		.head.nlmsg_len = sizeof(request),
		.head.nlmsg_type = type,
		.head.nlmsg_flags = NLM_F_REQUEST | flags,
		.diag = *diag,
	};

	return send(fd, &request, sizeof(request), 0) < 0 ? -errno : 0;
}

/* Is this the far end of the mount's connections? */
static bool to_server(const struct inet_diag_msg *msg, const union server_address *server)
{
	if (msg->idiag_family != server->sa.sa_family)
		return false;
	if (msg->idiag_family == AF_INET)
		return msg->id.idiag_dport == server->in.sin_port &&
		       !memcmp(msg->id.idiag_dst, &server->in.sin_addr, 4);
	return msg->id.idiag_dport == server->in6.sin6_port &&
	       !memcmp(msg->id.idiag_dst, &server->in6.sin6_addr, 16);
}

/* Collect the sockets connected to the server; their number or -errno. */
static int list_sockets(int fd, const union server_address *server,
			struct inet_diag_sockid *ids)
{
	struct inet_diag_req_v2 diag = {
		.sdiag_family = server->sa.sa_family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_states = 1 << TCP_ESTABLISHED,
	};
	union {
		struct nlmsghdr	head;
		char		bytes[32768];
	} buffer;
	int found = 0;
	ssize_t len;

	len = send_request(fd, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &diag);
	while (len >= 0) {
		struct nlmsghdr *head = &buffer.head;

		len = recv(fd, &buffer, sizeof(buffer), 0);
		if (len < 0)
			return -errno;
		for (; NLMSG_OK(head, (size_t)len); head = NLMSG_NEXT(head, len)) {
			const struct inet_diag_msg *msg = NLMSG_DATA(head);

			if (head->nlmsg_type == NLMSG_DONE)
				return found;
			if (head->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)NLMSG_DATA(head))->error ?: -EPROTO;
			if (found < CONNECTIONS && to_server(msg, server))
				ids[found++] = msg->id;
		}
		len = 0;
	}
	return len;
}

/* Destroy one socket: 1, 0 if it was gone already, or -errno. */
static int destroy(int fd, sa_family_t family, const struct inet_diag_sockid *id)
{
	struct inet_diag_req_v2 diag = {
		.sdiag_family = family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_states = 1 << TCP_ESTABLISHED,
		.id = *id,
	};
	struct {
		struct nlmsghdr	head;
		struct nlmsgerr	ack;
		char		rest[256];
	} answer;
	int error;

	error = send_request(fd, SOCK_DESTROY, NLM_F_ACK, &diag);
	if (error)
		return error;
	if (recv(fd, &answer, sizeof(answer), 0) < 0)
		return -errno;
	if (answer.head.nlmsg_type != NLMSG_ERROR)
		return -EPROTO;
	if (answer.ack.error == -ENOENT)
		return 0;
	return answer.ack.error ?: 1;
}

static void note_port(struct killer *killer, unsigned int port)
{
	if (!killer || killer->seen[port])
		return;
	killer->seen[port] = true;
	killer->ports++;
}

/* Kill all connections to the server once; their number or -errno. */
static int kill_connections(const union server_address *server, struct killer *killer)
{
	struct inet_diag_sockid ids[CONNECTIONS];
	int count, i, fd, done, killed = 0;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0)
		return -errno;
	count = list_sockets(fd, server, ids);
	for (i = 0; i < count; i++) {
		done = destroy(fd, server->sa.sa_family, &ids[i]);
		if (done < 0) {
			killed = done;
			break;
		}
		killed += done;
		note_port(killer, ntohs(ids[i].idiag_sport));
	}
	close(fd);
	return count < 0 ? count : killed;
}

static void kill_again(struct killer *killer, const struct test_setup *setup)
{
	int killed;

	for (;;) {
		usleep(setup->kill_ms * 1000);
		killed = kill_connections(&setup->mnt.server, killer);
		if (killed < 0) {
			killer->error = -killed;
			_exit(KSFT_FAIL);
		}
		killer->killed += killed;
	}
}

/**
 * killer_probe - skip where KILL_MS asks for what cannot be done
 * @setup: of the test
 */
void killer_probe(const struct test_setup *setup)
{
	int killed;

	if (!setup->kill_ms)
		return;
	/* Nothing but the attempt tells. */
	killed = kill_connections(&setup->mnt.server, NULL);
	switch (killed) {
	case -EOPNOTSUPP:
	case -ENOENT:
		ksft_exit_skip("KILL_MS=%lu: needs CONFIG_INET_DIAG_DESTROY\n",
			       setup->kill_ms);
	case -EPERM:
	case -EACCES:
		ksft_exit_skip("KILL_MS=%lu: needs CAP_NET_ADMIN\n", setup->kill_ms);
	case 0:
		ksft_exit_skip("KILL_MS=%lu: no connection in this network namespace\n",
			       setup->kill_ms);
	}
	if (killed < 0)
		ksft_exit_skip("KILL_MS=%lu: %s\n", setup->kill_ms, strerror(-killed));
}

/**
 * killer_start - kill the mount's connections every KILL_MS from now on
 * @setup: of the test
 *
 * Return: the killer, or NULL if KILL_MS is not set.
 */
struct killer *killer_start(const struct test_setup *setup)
{
	pid_t parent = getpid(), pid;
	struct killer *killer;

	if (!setup->kill_ms)
		return NULL;
	killer = shared_memory(sizeof(*killer));
	pid = fork();
	if (pid < 0)
		ksft_exit_fail_perror("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			kill_again(killer, setup);
		_exit(KSFT_PASS);
	}
	killer->pid = pid;
	return killer;
}

/**
 * killer_stop - the connections are left alone from now on
 * @killer: from killer_start()
 *
 * Prints how many source ports the client used. With NFSv3 and NFSv4.0 it is to keep
 * that of each connection, or the server does not recognise what is sent again.
 *
 * Return: the number of connections killed; 0 if that stopped working.
 */
unsigned long killer_stop(struct killer *killer)
{
	if (!killer)
		return 0;
	kill(killer->pid, SIGKILL);
	waitpid(killer->pid, NULL, 0);
	if (killer->error) {
		ksft_print_msg("killing connections: %s\n", strerror(killer->error));
		return 0;
	}
	ksft_print_msg("%lu connections killed, %u source ports\n", killer->killed,
		       killer->ports);
	return killer->killed;
}
