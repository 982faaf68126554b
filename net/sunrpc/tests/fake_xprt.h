/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A transport whose server is the test itself
 *
 * Connecting succeeds at once. Each transmission goes to the test's
 * ->send(), in the context of the task that transmits, and may be answered
 * from there, so that the whole state machine of the RPC client runs
 * without a network, and in a fixed order.
 */

#ifndef _NET_SUNRPC_TESTS_FAKE_XPRT_H
#define _NET_SUNRPC_TESTS_FAKE_XPRT_H

#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/xprt.h>

/* The one procedure of the program: a word in, a word out */
#define FAKE_PROC_ECHO	1

struct fake_server {
	/* Returns what the transport's ->send_request() returns */
	int			(*send)(struct fake_server *server,
					struct rpc_rqst *rqst);
	/* What the transport's ->prepare_request() returns, if set */
	int			(*prepare)(struct fake_server *server,
					   struct rpc_rqst *rqst,
					   struct xdr_buf *buf);
	struct rpc_clnt		*clnt;
	struct rpc_timeout	timeout;
	unsigned int		connects;
};

int fake_server_start(struct fake_server *server);
void fake_server_stop(struct fake_server *server);
void fake_server_reply(struct rpc_rqst *rqst, const __be32 *reply,
		       unsigned int words);
void fake_server_disconnect(struct fake_server *server);
void fake_server_flush(void);
int fake_server_call(struct fake_server *server, struct rpc_cred *cred,
		     u32 arg, u32 *result, int flags);

#endif /* _NET_SUNRPC_TESTS_FAKE_XPRT_H */
