/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ONC RPC records on TCP (RFC 5531) with RPCSEC_GSS (RFC 2203), as far as a stranger
 * without a key can read and write them.
 */
#ifndef RIG_RPC_H
#define RIG_RPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RPC_MARK	4	/* bytes of the record mark */
#define RPC_HANDLE	380	/* the longest GSS handle in a credential of 400 bytes */
#define RPC_JUNK	1024	/* room that is enough for any junk Call */

/* The header of a Call with a GSS credential for data. */
struct rpc_call {
	uint32_t	xid;
	uint32_t	seqno;
	uint32_t	handle_len;
	const uint8_t	*handle;
};

struct rpc_reply {
	uint32_t	xid;
	bool		denied;
	uint32_t	status;		/* why it was denied: auth_stat; else accept_stat */
};

/* Of struct rpc_reply, where denied. */
#define RPC_CREDPROBLEM	13

size_t rpc_mark(uint8_t *data, const uint8_t *end);
size_t rpc_record(const uint8_t *data, size_t len);
bool rpc_read_call(const uint8_t *data, size_t len, struct rpc_call *call);
bool rpc_read_reply(const uint8_t *data, size_t len, struct rpc_reply *reply);
size_t rpc_write_junk(uint8_t *data, uint32_t xid, uint32_t handle_len);

#endif /* RIG_RPC_H */
