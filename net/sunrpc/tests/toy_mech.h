/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A GSS mechanism for tests: its MIC is a checksum of the message, its
 * encryption an exclusive or. It protects nothing, and everything it makes
 * can be checked by hand.
 */

#ifndef _NET_SUNRPC_TESTS_TOY_MECH_H
#define _NET_SUNRPC_TESTS_TOY_MECH_H

#include <linux/sunrpc/gss_api.h>
#include <linux/sunrpc/xdr.h>

/* Behind gss_ctx.internal_ctx_id, which may also be NULL */
struct toy_ctx {
	unsigned int	verified;	/* MICs checked */
	unsigned int	limit;		/* how many to check before failing */
	bool		expired;	/* no MIC without saying so */
	unsigned int	used;		/* operations of any kind */
	unsigned int	unavailable;	/* which of them finds no memory */
};

extern struct gss_api_mech toy_mech;

__be32 toy_mic(const __be32 *begin, const __be32 *end);
void toy_crypt(__be32 *begin, const __be32 *end);

#endif /* _NET_SUNRPC_TESTS_TOY_MECH_H */
