/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A Call as its server reads it (RFC 5531), and how a Reply to it begins.
 */
#ifndef RIG_CALL_H
#define RIG_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdr.h"

#define AUTH_MOST	400	/* bytes of a credential or a verifier */

enum auth_flavor {
	AUTH_NONE = 0,
	AUTH_SYS = 1,
	AUTH_GSS = 6,
};

enum accept_stat {
	SUCCESS,
	PROG_UNAVAIL,
	PROG_MISMATCH,
	PROC_UNAVAIL,
	GARBAGE_ARGS,
};

enum auth_stat {
	AUTH_BADCRED = 1,
	AUTH_TOOWEAK = 5,
	GSS_CREDPROBLEM = 13,
	GSS_CTXPROBLEM = 14,
};

struct call {
	uint32_t	xid;
	uint32_t	program;
	uint32_t	version;
	uint32_t	procedure;
	uint32_t	flavor;
	struct reader	cred;		/* the body of the credential */
	const uint8_t	*header;	/* what a verifier is made of: all up to the credential, */
	size_t		header_len;	/* which it includes */
	uint32_t	verf_flavor;
	const uint8_t	*verf;
	uint32_t	verf_len;
	struct reader	args;
};

bool call_read(const uint8_t *data, size_t len, struct call *call);
void reply_begin(struct writer *out, const struct call *call);
void reply_deny(struct writer *out, const struct call *call, enum auth_stat why);

#endif /* RIG_CALL_H */
