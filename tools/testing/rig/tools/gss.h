/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RPCSEC_GSS (RFC 2203) as a server does it, without integrity and privacy of the body.
 *
 * A Call that the sequence window does not let pass is dropped without a word, and its
 * connection stays: that is what RFC 2203 5.3.3.1 asks for.
 */
#ifndef RIG_GSS_H
#define RIG_GSS_H

#include <stdint.h>

#include "call.h"
#include "xdr.h"

/* What is to become of a Call. */
enum outcome {
	ANSWER,		/* the Reply is complete */
	DROP,		/* without a Reply */
	SERVE,		/* the Reply has its verifier and lacks the rest */
};

struct gss_counts {
	unsigned long	contexts;
	unsigned long	failed;		/* contexts that came to nothing */
	unsigned long	denied;		/* Calls with a bad credential or verifier */
	unsigned long	accepted;
	unsigned long	low;		/* dropped: behind by the window or more */
	unsigned long	seen;		/* dropped */
	unsigned long	lost;		/* accepted, but the Reply is lost on purpose */
	uint32_t	newest;
	uint32_t	max_lag;	/* of all that were judged */
};

extern struct gss_counts gss_counts;

void gss_setup(uint32_t window, unsigned long lose);
enum outcome gss_call(struct call *call, struct writer *out);

#endif /* RIG_GSS_H */
