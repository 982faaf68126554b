/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sequence window that a server keeps for an RPCSEC_GSS context
 */

#ifndef _NET_SUNRPC_AUTH_GSS_GSS_SVC_SEQ_H
#define _NET_SUNRPC_AUTH_GSS_GSS_SVC_SEQ_H

#include <linux/bitops.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* What every context remembers, in numbers */
#define GSS_SEQ_WIN		128

/* What an established context remembers, at least and at most */
#define GSS_SVC_SEQ_HISTORY	8192
#define GSS_SVC_SEQ_MAX		65536

/**
 * struct gss_svc_seq - sequence numbers that a context has accepted
 * @lock: protects the other fields
 * @max: highest sequence number accepted so far
 * @floor: numbers below this are too low: whether they were accepted was
 *	forgotten before @bits grew. Never lowered.
 * @nbits: size of @bits, a power of two, how many numbers are remembered.
 *	Never lowered.
 * @bits: bit n & (@nbits - 1) is set when number n was accepted, for each n
 *	with @max - @nbits < n <= @max and n >= @floor
 * @base: what @bits points to until it grows
 * @window: the seq_window that the client was told, zero before it was
 * @max_lag: the most by which an accepted number was behind @max
 * @accepted: how many numbers were accepted
 * @low: how many were refused as too low
 * @seen: how many were refused because they had been accepted
 */
struct gss_svc_seq {
	spinlock_t		lock;	/* for all other fields */
	u32			max;
	u32			floor;
	u32			nbits;
	unsigned long		*bits;
	unsigned long		base[GSS_SEQ_WIN / BITS_PER_LONG];
	u32			window;
	u32			max_lag;
	unsigned long		accepted;
	u32			low;
	u32			seen;
};

/**
 * enum gss_svc_seq_verdict - what is to become of a Call
 * @GSS_SVC_SEQ_ACCEPTED: its number is new, and from now on it is used
 * @GSS_SVC_SEQ_LOW: its number is below the window, nobody knows about it
 * @GSS_SVC_SEQ_SEEN: its number has been accepted before
 */
enum gss_svc_seq_verdict {
	GSS_SVC_SEQ_ACCEPTED,
	GSS_SVC_SEQ_LOW,
	GSS_SVC_SEQ_SEEN,
};

/**
 * struct gss_svc_seq_place - where a number stood when it was judged
 * @max: highest number accepted before
 * @min: highest number that was too low, when this one was
 * @lag: how far the number was behind @max, zero when it was not
 */
struct gss_svc_seq_place {
	u32			max;
	u32			min;
	u32			lag;
};

extern unsigned int gss_svc_seq_kbytes;

/**
 * struct gss_svc_seq_stats - what there is to say about a window
 * @window: the seq_window that the client was told, zero before it was
 * @nbits: how many numbers are remembered
 * @max: highest number accepted so far
 * @floor: numbers below this are too low, whatever @max is
 * @max_lag: the most by which an accepted number was behind the highest
 * @accepted: how many numbers were accepted
 * @low: how many were refused as too low
 * @seen: how many were refused because they had been accepted
 */
struct gss_svc_seq_stats {
	u32			window;
	u32			nbits;
	u32			max;
	u32			floor;
	u32			max_lag;
	unsigned long		accepted;
	u32			low;
	u32			seen;
};

void gss_svc_seq_init(struct gss_svc_seq *seq);
void gss_svc_seq_destroy(struct gss_svc_seq *seq);
bool gss_svc_seq_grow(struct gss_svc_seq *seq, u32 nbits);
void gss_svc_seq_sizes(unsigned int threads, u32 *window, u32 *history);
u32 gss_svc_seq_prepare(struct gss_svc_seq *seq, u32 window, u32 history);
enum gss_svc_seq_verdict gss_svc_seq_check(struct gss_svc_seq *seq, u32 num,
					   struct gss_svc_seq_place *place);
void gss_svc_seq_read(struct gss_svc_seq *seq, struct gss_svc_seq_stats *stats);

#if IS_ENABLED(CONFIG_KUNIT)
long gss_svc_seq_allocated(void);
#endif

#endif /* _NET_SUNRPC_AUTH_GSS_GSS_SVC_SEQ_H */
