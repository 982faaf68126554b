/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of the server's RPCSEC_GSS sequence windows, by namespace
 */

#ifndef _NET_SUNRPC_AUTH_GSS_GSS_SVC_STATS_H
#define _NET_SUNRPC_AUTH_GSS_GSS_SVC_STATS_H

#include <linux/types.h>

#include "gss_svc_seq.h"

struct net;
struct seq_file;
struct svc_rqst;

/**
 * struct gss_svc_stats - what became of Calls, by their sequence numbers
 * @accepted: Calls whose number was good
 * @low: Calls whose number was below the window
 * @seen: Calls whose number had been accepted before
 * @large: Calls whose number was beyond MAXSEQ
 * @closes: connections closed because of @low or @seen
 * @max_lag: the most by which an accepted number was behind the highest
 */
struct gss_svc_stats {
	unsigned long		accepted;
	unsigned long		low;
	unsigned long		seen;
	unsigned long		large;
	unsigned long		closes;
	u32			max_lag;
};

int gss_svc_stats_init_net(struct net *net);
void gss_svc_stats_exit_net(struct net *net);
void gss_svc_stats_judged(const struct svc_rqst *rqstp,
			  enum gss_svc_seq_verdict verdict, u32 lag);
void gss_svc_stats_large(const struct svc_rqst *rqstp);

/* In svcauth_gss.c, which has the contexts */
void gss_svc_count_contexts(struct net *net, unsigned long *contexts,
			    unsigned long *bytes);

#if IS_ENABLED(CONFIG_KUNIT)
void gss_svc_stats_sum(struct net *net, struct gss_svc_stats *sum);
int gss_svc_stats_show(struct seq_file *m, void *v);
#endif

#endif /* _NET_SUNRPC_AUTH_GSS_GSS_SVC_STATS_H */
