/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a test runs, and how: what all of them read from the environment.
 *
 *	MNT=		folder on the NFS mount under test; without it: SKIP
 *	MNT_ANY=1	accept any file system; for work on the tests themselves
 *	DURATION=	seconds of load
 *	SEED=		of the pseudo-random choices; printed, so that they can be repeated
 *	WORKERS=	processes
 *	STALL=		seconds after which an operation counts as hung
 *	KILL_MS=	kill the mount's TCP connections at this interval; needs
 *			CAP_NET_ADMIN and CONFIG_INET_DIAG_DESTROY
 */
#ifndef _SELFTESTS_SUNRPC_MOUNT_H
#define _SELFTESTS_SUNRPC_MOUNT_H

#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

union server_address {
	struct sockaddr		sa;
	struct sockaddr_in	in;
	struct sockaddr_in6	in6;
};

struct test_mount {
	char			path[PATH_MAX];
	char			folder[PATH_MAX + 32];
	bool			nfs;
	bool			tcp;
	char			options[1024];
	union server_address	server;
};

struct test_setup {
	unsigned long		seconds;
	unsigned long		seed;
	unsigned long		workers;
	unsigned long		stall;
	unsigned long		kill_ms;
	struct test_mount	mnt;
};

unsigned long env_number(const char *name, unsigned long def, unsigned long min,
			 unsigned long max);
void test_begin(struct test_setup *setup);
void test_folder(struct test_setup *setup, const char *name);
unsigned long long test_random(unsigned long long *state);

#endif /* _SELFTESTS_SUNRPC_MOUNT_H */
