// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of the server's RPCSEC_GSS sequence windows, by namespace:
 * /proc/net/rpc/gss-server
 *
 * They are counted on the CPU that judges the number, and summed up when
 * the file is read. How many contexts there are is not counted: it can be
 * seen from the cache they are in.
 */

#include <kunit/visibility.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>

#include "../netns.h"
#include "gss_svc_stats.h"

static struct gss_svc_stats __percpu *gss_svc_stats_of(const struct net *net)
{
	struct sunrpc_net *sn = net_generic(net, sunrpc_net_id);

	return sn->gss_svc_stats;
}

/**
 * gss_svc_stats_judged - count a Call whose sequence number was judged
 * @rqstp: the Call
 * @verdict: what became of it
 * @lag: by how much its number was behind the highest
 *
 * A refused Call has its connection closed (see svc_process_common()), as
 * long as there is one: a UDP socket stays.
 *
 * Context: Any but hard interrupt. Does not sleep.
 */
void gss_svc_stats_judged(const struct svc_rqst *rqstp,
			  enum gss_svc_seq_verdict verdict, u32 lag)
{
	struct gss_svc_stats __percpu *all = gss_svc_stats_of(SVC_NET(rqstp));
	const struct svc_xprt *xprt = rqstp->rq_xprt;
	struct gss_svc_stats *stats;

	stats = get_cpu_ptr(all);
	switch (verdict) {
	case GSS_SVC_SEQ_ACCEPTED:
		stats->accepted++;
		if (lag > stats->max_lag)
			stats->max_lag = lag;
		break;
	case GSS_SVC_SEQ_LOW:
		stats->low++;
		break;
	case GSS_SVC_SEQ_SEEN:
		stats->seen++;
		break;
	}
	/* A connection may have other Calls that are refused: it closes once */
	if (verdict != GSS_SVC_SEQ_ACCEPTED && xprt &&
	    test_bit(XPT_TEMP, &xprt->xpt_flags) &&
	    !test_bit(XPT_CLOSE, &xprt->xpt_flags))
		stats->closes++;
	put_cpu_ptr(all);
}

/**
 * gss_svc_stats_large - count a Call whose sequence number is above MAXSEQ
 * @rqstp: the Call
 *
 * Context: Any but hard interrupt. Does not sleep.
 */
void gss_svc_stats_large(const struct svc_rqst *rqstp)
{
	this_cpu_inc(gss_svc_stats_of(SVC_NET(rqstp))->large);
}

/**
 * gss_svc_stats_sum - sum up the counters of a namespace
 * @net: the namespace
 * @sum: on return, the sums; each is right, but they may move on meanwhile
 *
 * Context: Any.
 */
VISIBLE_IF_KUNIT void gss_svc_stats_sum(struct net *net,
					struct gss_svc_stats *sum)
{
	const struct gss_svc_stats *stats;
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		stats = per_cpu_ptr(gss_svc_stats_of(net), cpu);
		sum->accepted += READ_ONCE(stats->accepted);
		sum->low += READ_ONCE(stats->low);
		sum->seen += READ_ONCE(stats->seen);
		sum->large += READ_ONCE(stats->large);
		sum->closes += READ_ONCE(stats->closes);
		sum->max_lag = max(sum->max_lag, READ_ONCE(stats->max_lag));
	}
}
EXPORT_SYMBOL_IF_KUNIT(gss_svc_stats_sum);

/**
 * gss_svc_stats_show - show the counters of a namespace
 * @m: the open file
 * @v: unused
 *
 * Context: Process context.
 * Return: Zero.
 */
VISIBLE_IF_KUNIT int __maybe_unused gss_svc_stats_show(struct seq_file *m,
						       void *v)
{
	struct net *net = seq_file_single_net(m);
	unsigned long contexts, bytes;
	struct gss_svc_stats sum;

	gss_svc_stats_sum(net, &sum);
	gss_svc_count_contexts(net, &contexts, &bytes);

	seq_printf(m, "accepted %lu\n", sum.accepted);
	seq_printf(m, "low %lu\n", sum.low);
	seq_printf(m, "seen %lu\n", sum.seen);
	seq_printf(m, "large %lu\n", sum.large);
	seq_printf(m, "closes %lu\n", sum.closes);
	seq_printf(m, "max_lag %u\n", sum.max_lag);
	seq_printf(m, "contexts %lu\n", contexts);
	seq_printf(m, "bytes %lu\n", bytes);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(gss_svc_stats_show);

/**
 * gss_svc_stats_init_net - make the counters of a namespace, and the file
 * @net: the namespace, whose GSS caches exist
 *
 * Context: Process context. May sleep.
 * Return: Zero, or -ENOMEM.
 */
int gss_svc_stats_init_net(struct net *net)
{
	struct sunrpc_net *sn = net_generic(net, sunrpc_net_id);

	sn->gss_svc_stats = alloc_percpu(struct gss_svc_stats);
	if (!sn->gss_svc_stats)
		return -ENOMEM;
	if (IS_ENABLED(CONFIG_PROC_FS) &&
	    !proc_create_net_single("gss-server", 0444, sn->proc_net_rpc,
				    gss_svc_stats_show, NULL)) {
		free_percpu(sn->gss_svc_stats);
		return -ENOMEM;
	}
	return 0;
}

/**
 * gss_svc_stats_exit_net - remove the counters of a namespace, and the file
 * @net: the namespace, whose GSS caches still exist and which has no server
 *
 * Context: Process context. May sleep.
 */
void gss_svc_stats_exit_net(struct net *net)
{
	struct sunrpc_net *sn = net_generic(net, sunrpc_net_id);

	remove_proc_entry("gss-server", sn->proc_net_rpc);
	free_percpu(sn->gss_svc_stats);
	sn->gss_svc_stats = NULL;
}
