/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kill the TCP connections of an NFS mount, as a router or a server that goes away would.
 */
#ifndef _SELFTESTS_SUNRPC_CONN_KILL_H
#define _SELFTESTS_SUNRPC_CONN_KILL_H

#include "mount.h"

struct killer;

void killer_probe(const struct test_setup *setup);
struct killer *killer_start(const struct test_setup *setup);
unsigned long killer_stop(struct killer *killer);

/* The result of the killer itself, in the file that counts the results. */
#define killer_result(killer, killed) do {					\
	if (killer)								\
		ksft_test_result(killed, "connections were killed\n");		\
	else									\
		ksft_test_result_skip("connections were killed: KILL_MS is not set\n"); \
} while (0)

#endif /* _SELFTESTS_SUNRPC_CONN_KILL_H */
