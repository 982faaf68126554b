// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the sequence window of an RPCSEC_GSS context on the
 * server, from INIT to the end of the context
 *
 * The tests write what rpc.svcgssd writes, and hand Calls to svc_process().
 * The mechanism is the toy of the other tests. A transport that is no more
 * than its operations keeps the Reply.
 */

#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/sunrpc/auth_gss.h>
#include <linux/sunrpc/cache.h>
#include <linux/sunrpc/gss_api.h>
#include <linux/sunrpc/gss_err.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/svcauth.h>

#include "../auth_gss/gss_rpc_upcall.h"
#include "../auth_gss/gss_svc_param.h"
#include "../auth_gss/gss_svc_seq.h"
#include "../auth_gss/gss_svc_stats.h"
#include "../netns.h"
#include "toy_mech.h"

#define TEST_PROGRAM	0x20000046
#define TEST_MAXPAGES	4
#define TEST_WINDOW	1024
#define TEST_HISTORY	8192

struct init_test {
	struct svc_rqst		*rqstp;
	u32			handle;
	u32			seqno;
	unsigned int		nr_calls;
	long			before;		/* bytes of all windows */

	__be32			reply[64];
	unsigned int		reply_words;	/* zero if there was none */
};

/* What a Reply to INIT says */
struct init_reply {
	u32			verf_flavor;
	__be32			mic;
	u32			major;
	u32			window;
};

/* The toy mechanism, with contexts that can be imported */

static struct gss_api_ops import_ops;

static int import_sec_context(const void *token, size_t len,
			      struct gss_ctx *ctx, time64_t *endtime,
			      gfp_t gfp)
{
	if (endtime)
		*endtime = ktime_get_real_seconds() + 600;
	return 0;
}

static struct gss_api_mech import_mech = {
	.gm_name	= "gss-svc-init-toy",
	.gm_owner	= THIS_MODULE,
	.gm_oid		= { 4, "\x2a\x03\x04\x05" },
	.gm_ops		= &import_ops,
};

/* The transport */

static int init_test_sendto(struct svc_rqst *rqstp)
{
	struct init_test *it = rqstp->rq_private;
	struct kvec *head = rqstp->rq_res.head;
	size_t len = min(head->iov_len, sizeof(it->reply));

	memcpy(it->reply, head->iov_base, len);
	it->reply_words = XDR_QUADLEN(len);
	return rqstp->rq_res.len;
}

static const struct svc_xprt_ops init_test_xprt_ops = {
	.xpo_sendto	= init_test_sendto,
};

/* The program */

static enum svc_auth_status init_test_authenticate(struct svc_rqst *rqstp)
{
	rqstp->rq_auth_stat = rpc_auth_ok;
	return SVC_OK;
}

static int init_test_dispatch(struct svc_rqst *rqstp)
{
	return 1;
}

static __be32 init_test_func(struct svc_rqst *rqstp)
{
	return rpc_success;
}

static bool init_test_encode(struct svc_rqst *rqstp, struct xdr_stream *xdr)
{
	return true;
}

static const struct svc_procedure init_test_proc = {
	.pc_func	= init_test_func,
	.pc_encode	= init_test_encode,
	.pc_name	= "CALL",
};

static __be32 init_test_init_request(struct svc_rqst *rqstp,
				     const struct svc_program *progp,
				     struct svc_process_info *process)
{
	rqstp->rq_procinfo = &init_test_proc;
	process->dispatch = init_test_dispatch;
	return rpc_success;
}

static struct svc_program init_test_program = {
	.pg_prog		= TEST_PROGRAM,
	.pg_name		= "gss-svc-init",
	.pg_authenticate	= init_test_authenticate,
	.pg_init_request	= init_test_init_request,
};

/* The client */

static __be32 *init_test_put_cred(struct init_test *it, u32 proc,
				  enum rpc_gss_proc gss_proc)
{
	__be32 *p = it->rqstp->rq_arg.head[0].iov_base;
	bool known = gss_proc != RPC_GSS_PROC_INIT;

	*p++ = cpu_to_be32(++it->nr_calls);		/* xid */
	*p++ = rpc_call;
	*p++ = cpu_to_be32(RPC_VERSION);
	*p++ = cpu_to_be32(TEST_PROGRAM);
	*p++ = cpu_to_be32(1);				/* version */
	*p++ = cpu_to_be32(proc);
	*p++ = rpc_auth_gss;
	*p++ = cpu_to_be32((5 + known) * XDR_UNIT);
	*p++ = cpu_to_be32(RPC_GSS_VERSION);
	*p++ = cpu_to_be32(gss_proc);
	*p++ = cpu_to_be32(known ? it->seqno : 0);
	*p++ = cpu_to_be32(RPC_GSS_SVC_NONE);
	*p++ = cpu_to_be32(known ? sizeof(it->handle) : 0);
	if (known)
		*p++ = cpu_to_be32(it->handle);
	return p;
}

static struct page *init_test_page(void)
{
	return alloc_page(GFP_KERNEL | __GFP_ZERO);
}

/* Send what ends at @end. Returns false if there was no Reply. */
static bool init_test_send(struct init_test *it, __be32 *end)
{
	struct svc_rqst *rqstp = it->rqstp;
	struct kvec *head = rqstp->rq_arg.head;
	unsigned int i;

	for (i = 0; i < TEST_MAXPAGES; i++)
		if (!rqstp->rq_respages[i])
			rqstp->rq_respages[i] = init_test_page();

	head->iov_len = (u8 *)end - (u8 *)head->iov_base;
	rqstp->rq_arg.len = head->iov_len;
	it->reply_words = 0;
	svc_process(rqstp);
	svc_rqst_release_pages(rqstp);
	return it->reply_words;
}

/* Send INIT, whose token is the handle that the context has or will have */
static bool init_test_init_context(struct init_test *it,
				   struct init_reply *reply)
{
	const __be32 *in = it->reply;
	__be32 *p;

	memset(reply, 0, sizeof(*reply));
	p = init_test_put_cred(it, 0, RPC_GSS_PROC_INIT);
	*p++ = xdr_zero;				/* verifier */
	*p++ = xdr_zero;
	*p++ = cpu_to_be32(sizeof(it->handle));
	*p++ = cpu_to_be32(it->handle);
	if (!init_test_send(it, p) || in[2] != rpc_msg_accepted)
		return false;

	in += 3;
	reply->verf_flavor = be32_to_cpup(in++);
	if (*in++)
		reply->mic = *in++;
	if (*in++ != rpc_success)
		return false;
	in += 1 + XDR_QUADLEN(be32_to_cpup(in));	/* handle */
	reply->major = be32_to_cpup(in++);
	in++;						/* minor */
	reply->window = be32_to_cpup(in);
	return true;
}

/* Send a Call on the context. Returns true if its Reply is no denial. */
static bool init_test_call(struct init_test *it, enum rpc_gss_proc gss_proc)
{
	__be32 *begin = it->rqstp->rq_arg.head[0].iov_base;
	__be32 *p, mic;

	p = init_test_put_cred(it, gss_proc == RPC_GSS_PROC_DATA, gss_proc);
	mic = toy_mic(begin, p);
	*p++ = rpc_auth_gss;
	*p++ = cpu_to_be32(sizeof(mic));
	*p++ = mic;
	return init_test_send(it, p) && it->reply[2] == rpc_msg_accepted;
}

static bool init_test_data(struct init_test *it, u32 seqno)
{
	it->seqno = seqno;
	return init_test_call(it, RPC_GSS_PROC_DATA);
}

static bool init_test_destroy(struct init_test *it, u32 seqno)
{
	it->seqno = seqno;
	return init_test_call(it, RPC_GSS_PROC_DESTROY);
}

/* rpc.svcgssd */

static struct sunrpc_net *init_test_net(void)
{
	return net_generic(&init_net, sunrpc_net_id);
}

/* The context, or that there is none */
static int init_test_write_context(struct init_test *it, bool negative)
{
	struct cache_detail *cd = init_test_net()->rsc_cache;
	char mesg[128];
	int len;

	len = scnprintf(mesg, sizeof(mesg), "\\x%08x %lld%s%s%s\n", it->handle,
			ktime_get_real_seconds() + 600,
			negative ? "" : " 0 0 0 ",
			negative ? "" : import_mech.gm_name,
			negative ? "" : " \\x00");
	return cd->cache_parse(cd, mesg, len);
}

/* The answer to INIT */
static int init_test_write_answer(struct init_test *it, u32 major)
{
	struct cache_detail *cd = init_test_net()->rsi_cache;
	char mesg[128];
	int len;

	len = scnprintf(mesg, sizeof(mesg), "\\x \\x%08x %lld %u 0 \\x%08x \\x00\n",
			it->handle, ktime_get_real_seconds() + 600, major,
			it->handle);
	return cd->cache_parse(cd, mesg, len);
}

static void init_test_establish(struct kunit *test)
{
	struct init_test *it = test->priv;

	KUNIT_ASSERT_EQ(test, 0, init_test_write_context(it, false));
	KUNIT_ASSERT_EQ(test, 0, init_test_write_answer(it, GSS_S_COMPLETE));
}

/* What the windows of all contexts take now, beyond what they took before */
static long init_test_allocated(struct init_test *it)
{
	rcu_barrier();
	return gss_svc_seq_allocated() - it->before;
}

static int init_test_suite_init(struct kunit_suite *suite)
{
	import_ops = *toy_mech.gm_ops;
	import_ops.gss_import_sec_context = import_sec_context;
	/* Contexts that other suites left behind */
	cache_purge(init_test_net()->rsc_cache);
	return gss_mech_register(&import_mech);
}

static void init_test_suite_exit(struct kunit_suite *suite)
{
	gss_mech_unregister(&import_mech);
}

static int init_test_init(struct kunit *test)
{
	static u32 last_handle = 0x1a170000;
	struct svc_rqst *rqstp;
	struct init_test *it;

	it = kunit_kzalloc(test, sizeof(*it), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, it);
	it->handle = ++last_handle;
	rcu_barrier();
	it->before = gss_svc_seq_allocated();

	rqstp = kunit_kzalloc(test, sizeof(*rqstp), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rqstp);
	it->rqstp = rqstp;
	rqstp->rq_private = it;
	rqstp->rq_server = kunit_kzalloc(test, sizeof(*rqstp->rq_server),
					 GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rqstp->rq_server);
	rqstp->rq_server->sv_programs = &init_test_program;
	rqstp->rq_server->sv_nprogs = 1;
	rqstp->rq_server->sv_pools = kunit_kzalloc(test, sizeof(struct svc_pool),
						   GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rqstp->rq_server->sv_pools);

	rqstp->rq_xprt = kunit_kzalloc(test, sizeof(*rqstp->rq_xprt),
				       GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rqstp->rq_xprt);
	rqstp->rq_xprt->xpt_ops = &init_test_xprt_ops;
	rqstp->rq_xprt->xpt_server = rqstp->rq_server;
	rqstp->rq_xprt->xpt_net = &init_net;

	rqstp->rq_arg.head[0].iov_base = kunit_kzalloc(test, 256, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rqstp->rq_arg.head[0].iov_base);
	rqstp->rq_respages = kunit_kcalloc(test, TEST_MAXPAGES + 1,
					   sizeof(struct page *), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rqstp->rq_respages);
	rqstp->rq_maxpages = TEST_MAXPAGES;
	rqstp->rq_page_end = rqstp->rq_respages + TEST_MAXPAGES;
	folio_batch_init(&rqstp->rq_fbatch);
	rqstp->rq_scratch_folio = page_folio(init_test_page());

	test->priv = it;
	return 0;
}

static void init_test_exit(struct kunit *test)
{
	struct init_test *it = test->priv;
	struct svc_rqst *rqstp;
	unsigned int i;

	if (!it)
		return;
	/* If there still is one */
	init_test_destroy(it, MAXSEQ);

	rqstp = it->rqstp;
	for (i = 0; i < TEST_MAXPAGES; i++)
		if (rqstp->rq_respages[i])
			put_page(rqstp->rq_respages[i]);
	folio_put(rqstp->rq_scratch_folio);
	kfree(rqstp->rq_auth_data);
}

/* The verifier signs the window that the results name */
static void init_test_expect_window(struct kunit *test,
				    const struct init_reply *reply, u32 window)
{
	__be32 results = cpu_to_be32(reply->window);

	KUNIT_EXPECT_EQ(test, GSS_S_COMPLETE, reply->major);
	KUNIT_EXPECT_EQ(test, RPC_AUTH_GSS, reply->verf_flavor);
	KUNIT_EXPECT_EQ(test, window, reply->window);
	KUNIT_EXPECT_TRUE(test, toy_mic(&results, &results + 1) == reply->mic);
}

static void init_remembers_more_than_it_advertises(struct kunit *test)
{
	struct init_test *it = test->priv;
	struct init_reply reply;

	init_test_establish(test);
	KUNIT_EXPECT_EQ(test, 0, init_test_allocated(it));

	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));

	init_test_expect_window(test, &reply, TEST_WINDOW);
	KUNIT_EXPECT_EQ(test, TEST_HISTORY / BITS_PER_BYTE,
			init_test_allocated(it));

	/* The last number in reach, and the first that is not */
	KUNIT_EXPECT_TRUE(test, init_test_data(it, TEST_HISTORY + 10));
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 11));
	KUNIT_EXPECT_FALSE(test, init_test_data(it, 10));
	KUNIT_EXPECT_FALSE(test, init_test_data(it, 11));
	KUNIT_EXPECT_FALSE(test, init_test_data(it, TEST_HISTORY + 10));
}

static void init_sent_again_changes_nothing(struct kunit *test)
{
	struct init_test *it = test->priv;
	struct init_reply first, again;

	init_test_establish(test);
	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &first));
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 5000));

	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &again));

	KUNIT_EXPECT_MEMEQ(test, &first, &again, sizeof(first));
	KUNIT_EXPECT_EQ(test, TEST_HISTORY / BITS_PER_BYTE,
			init_test_allocated(it));
	KUNIT_EXPECT_FALSE(test, init_test_data(it, 5000));
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 1));
}

/* The client is quick, or its Reply to INIT was lost with a connection */
static void init_answered_after_the_first_calls(struct kunit *test)
{
	struct init_test *it = test->priv;
	struct init_reply reply;

	init_test_establish(test);
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 1));
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 200));
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 100));

	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));

	KUNIT_EXPECT_FALSE(test, init_test_data(it, 1));
	KUNIT_EXPECT_FALSE(test, init_test_data(it, 72));
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 73));
	KUNIT_EXPECT_FALSE(test, init_test_data(it, 100));
	KUNIT_EXPECT_FALSE(test, init_test_data(it, 200));
}

static void init_restore_limit(void *limit)
{
	gss_svc_seq_kbytes = (uintptr_t)limit;
}

/* The context is as good as it was before there was a history */
static void init_makes_do_without_memory(struct kunit *test)
{
	void *limit = (void *)(uintptr_t)gss_svc_seq_kbytes;
	struct init_test *it = test->priv;
	struct init_reply reply;

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action(test, init_restore_limit,
						  limit));
	gss_svc_seq_kbytes = 0;
	init_test_establish(test);

	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));

	init_test_expect_window(test, &reply, GSS_SEQ_WIN);
	KUNIT_EXPECT_EQ(test, 0, init_test_allocated(it));
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 1000));
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 1000 - GSS_SEQ_WIN + 1));
	KUNIT_EXPECT_FALSE(test, init_test_data(it, 1000 - GSS_SEQ_WIN));
}

/* gss-proxy, which answers INIT and brings the context at the same time */
static int init_test_proxy_answer(struct net *net,
				  struct gssp_upcall_data *data)
{
	data->mech_oid.len = import_mech.gm_oid.len;
	memcpy(data->mech_oid.data, import_mech.gm_oid.data,
	       import_mech.gm_oid.len);
	data->creds.cr_group_info = groups_alloc(0);
	data->found_creds = 1;
	data->major_status = GSS_S_COMPLETE;
	return data->creds.cr_group_info ? 0 : -ENOMEM;
}

static void init_restore_proxy(void *was)
{
	init_test_net()->use_gss_proxy = (intptr_t)was;
}

static void init_test_use_proxy(struct kunit *test)
{
	void *was = (void *)(intptr_t)init_test_net()->use_gss_proxy;

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action(test, init_restore_proxy,
						  was));
	init_test_net()->use_gss_proxy = 1;
	kunit_activate_static_stub(test, gssp_accept_sec_context_upcall,
				   init_test_proxy_answer);
}

struct daemon_case {
	const char	*desc;
	unsigned int	threads;
	u32		window;
	bool		proxy;
};

static const struct daemon_case daemon_cases[] = {
	{ "rpc.svcgssd, 8 threads",	8,	1024 },
	{ "rpc.svcgssd, 300 threads",	300,	2048 },
	{ "rpc.svcgssd, 5000 threads",	5000,	8192 },
	{ "gss-proxy, 8 threads",	8,	1024,	true },
	{ "gss-proxy, 300 threads",	300,	2048,	true },
};

KUNIT_ARRAY_PARAM_DESC(daemon, daemon_cases, desc);

/* Whoever answers it */
static void init_advertises_by_the_threads(struct kunit *test)
{
	const struct daemon_case *param = test->param_value;
	struct init_test *it = test->priv;
	struct init_reply reply;

	if (param->proxy)
		init_test_use_proxy(test);
	else
		init_test_establish(test);
	it->rqstp->rq_server->sv_pools[0].sp_nrthrmax = param->threads;

	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));

	init_test_expect_window(test, &reply, param->window);
	KUNIT_EXPECT_EQ(test, param->window, init_test_allocated(it));
	cache_purge(init_test_net()->rsc_cache);
	KUNIT_EXPECT_EQ(test, 0, init_test_allocated(it));
}

/* What the client knows of its context does not change with the server's threads */
static void init_sent_again_after_threads_were_added(struct kunit *test)
{
	struct init_test *it = test->priv;
	struct init_reply first, again;

	init_test_establish(test);
	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &first));
	it->rqstp->rq_server->sv_pools[0].sp_nrthrmax = 2000;
	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &again));

	init_test_expect_window(test, &first, TEST_WINDOW);
	KUNIT_EXPECT_MEMEQ(test, &first, &again, sizeof(first));
}

/* What an admin sets */

static void param_reset(void *unused)
{
	gss_svc_param_set(GSS_SVC_WINDOW, "0");
	gss_svc_param_set(GSS_SVC_HISTORY, "0");
	gss_svc_param_set(GSS_SVC_MEMORY, "65536");
}

static void param_reset_later(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action(test, param_reset, NULL));
}

/* By the file in /proc/sys/sunrpc */
static int param_write(enum gss_svc_param_nr nr, const char *text)
{
	const struct ctl_table *table = &gss_svc_param_table[nr];
	size_t len = strlen(text);
	loff_t pos = 0;
	char buf[16];

	strscpy(buf, text);
	return table->proc_handler(table, 1, buf, &len, &pos);
}

static int param_read(enum gss_svc_param_nr nr, unsigned int *value)
{
	const struct ctl_table *table = &gss_svc_param_table[nr];
	char buf[16] = { };
	size_t len = sizeof(buf) - 1;
	loff_t pos = 0;
	int ret;

	ret = table->proc_handler(table, 0, buf, &len, &pos);
	return ret ?: kstrtouint(strim(buf), 10, value);
}

struct param_case {
	enum gss_svc_param_nr	nr;
	const char		*text;
	unsigned int		value;	/* or that it had before */
	bool			refused;
};

#define FITS(nr, value)		{ nr, #value, value }
#define REFUSED(nr, text, was)	{ nr, text, was, true }

static const struct param_case param_cases[] = {
	FITS(GSS_SVC_WINDOW, 128),
	FITS(GSS_SVC_WINDOW, 129),
	FITS(GSS_SVC_WINDOW, 1000),
	FITS(GSS_SVC_WINDOW, 8192),
	FITS(GSS_SVC_WINDOW, 0),
	REFUSED(GSS_SVC_WINDOW, "1", 0),
	REFUSED(GSS_SVC_WINDOW, "127", 0),
	REFUSED(GSS_SVC_WINDOW, "8193", 0),
	REFUSED(GSS_SVC_WINDOW, "2147483648", 0),
	REFUSED(GSS_SVC_WINDOW, "4294967424", 0),
	REFUSED(GSS_SVC_WINDOW, "-128", 0),
	REFUSED(GSS_SVC_WINDOW, "many", 0),
	FITS(GSS_SVC_HISTORY, 128),
	FITS(GSS_SVC_HISTORY, 8192),
	FITS(GSS_SVC_HISTORY, 65536),
	FITS(GSS_SVC_HISTORY, 0),
	REFUSED(GSS_SVC_HISTORY, "1", 0),
	REFUSED(GSS_SVC_HISTORY, "64", 0),
	REFUSED(GSS_SVC_HISTORY, "127", 0),
	REFUSED(GSS_SVC_HISTORY, "129", 0),
	REFUSED(GSS_SVC_HISTORY, "8191", 0),
	REFUSED(GSS_SVC_HISTORY, "131072", 0),
	REFUSED(GSS_SVC_HISTORY, "2147483648", 0),
	REFUSED(GSS_SVC_HISTORY, "-128", 0),
	FITS(GSS_SVC_MEMORY, 0),
	FITS(GSS_SVC_MEMORY, 1),
	FITS(GSS_SVC_MEMORY, 2097151),
	REFUSED(GSS_SVC_MEMORY, "2097152", 65536),
	REFUSED(GSS_SVC_MEMORY, "4294967295", 65536),
	REFUSED(GSS_SVC_MEMORY, "-1", 65536),
};

static void param_desc(const struct param_case *param, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s is %s",
		 gss_svc_param_table[param->nr].procname, param->text);
}

KUNIT_ARRAY_PARAM(param, param_cases, param_desc);

static void param_is_set_or_refused(struct kunit *test)
{
	const struct param_case *param = test->param_value;
	int want = param->refused ? -EINVAL : 0;
	unsigned int value;

	param_reset_later(test);
	KUNIT_EXPECT_EQ(test, want, gss_svc_param_set(param->nr, param->text));
	KUNIT_EXPECT_EQ(test, param->value, gss_svc_param_get(param->nr));

	if (!IS_ENABLED(CONFIG_SYSCTL))
		return;
	param_reset(NULL);
	KUNIT_EXPECT_EQ(test, want, param_write(param->nr, param->text));
	KUNIT_EXPECT_EQ(test, param->value, gss_svc_param_get(param->nr));
	KUNIT_EXPECT_EQ(test, 0, param_read(param->nr, &value));
	KUNIT_EXPECT_EQ(test, param->value, value);
}

/* Never a window that is not remembered, in whatever order */
static void param_history_holds_the_window(struct kunit *test)
{
	u32 window, history;

	param_reset_later(test);
	KUNIT_EXPECT_EQ(test, 0, gss_svc_param_set(GSS_SVC_WINDOW, "1024"));
	KUNIT_EXPECT_EQ(test, -EINVAL, gss_svc_param_set(GSS_SVC_HISTORY,
							 "512"));
	KUNIT_EXPECT_EQ(test, 0, gss_svc_param_get(GSS_SVC_HISTORY));
	KUNIT_EXPECT_EQ(test, 0, gss_svc_param_set(GSS_SVC_HISTORY, "1024"));
	KUNIT_EXPECT_EQ(test, -EINVAL, gss_svc_param_set(GSS_SVC_WINDOW,
							 "1025"));
	KUNIT_EXPECT_EQ(test, 1024, gss_svc_param_get(GSS_SVC_WINDOW));

	/* What the server would choose is cut to the history */
	KUNIT_EXPECT_EQ(test, 0, gss_svc_param_set(GSS_SVC_WINDOW, "0"));
	KUNIT_EXPECT_EQ(test, 0, gss_svc_param_set(GSS_SVC_HISTORY, "256"));
	gss_svc_param_sizes(64, &window, &history);
	KUNIT_EXPECT_EQ(test, 256, window);
	KUNIT_EXPECT_EQ(test, 256, history);

	/* And a history that it chooses follows the window that was set */
	KUNIT_EXPECT_EQ(test, 0, gss_svc_param_set(GSS_SVC_HISTORY, "0"));
	KUNIT_EXPECT_EQ(test, 0, gss_svc_param_set(GSS_SVC_WINDOW, "3000"));
	gss_svc_param_sizes(64, &window, &history);
	KUNIT_EXPECT_EQ(test, 3000, window);
	KUNIT_EXPECT_EQ(test, 32768, history);
}

/* As it was before there was a history */
static void param_brings_the_old_window_back(struct kunit *test)
{
	struct init_test *it = test->priv;
	struct init_reply reply;

	param_reset_later(test);
	KUNIT_ASSERT_EQ(test, 0, gss_svc_param_set(GSS_SVC_WINDOW, "128"));
	KUNIT_ASSERT_EQ(test, 0, gss_svc_param_set(GSS_SVC_HISTORY, "128"));
	init_test_establish(test);

	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));

	init_test_expect_window(test, &reply, 128);
	KUNIT_EXPECT_EQ(test, 0, init_test_allocated(it));
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 200));
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 73));
	KUNIT_EXPECT_FALSE(test, init_test_data(it, 72));
}

static void param_is_for_contexts_to_come(struct kunit *test)
{
	struct init_test *it = test->priv;
	struct init_reply first, again, other;
	u32 handle = it->handle;

	param_reset_later(test);
	init_test_establish(test);
	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &first));
	KUNIT_EXPECT_TRUE(test, init_test_data(it, TEST_HISTORY));
	KUNIT_ASSERT_EQ(test, 0, gss_svc_param_set(GSS_SVC_WINDOW, "256"));
	KUNIT_ASSERT_EQ(test, 0, gss_svc_param_set(GSS_SVC_HISTORY, "512"));

	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &again));
	KUNIT_EXPECT_MEMEQ(test, &first, &again, sizeof(first));
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 1));

	it->handle ^= 1U << 31;
	init_test_establish(test);
	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &other));
	init_test_expect_window(test, &other, 256);
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 512));
	KUNIT_EXPECT_FALSE(test, init_test_data(it, 0));
	KUNIT_EXPECT_TRUE(test, init_test_destroy(it, 513));
	it->handle = handle;
}

static const char * const param_flips[] = { "128", "1000", "8192", "0" };

static int param_flipper(void *data)
{
	struct completion *flipped = data;
	u32 i;

	while (!kthread_should_stop()) {
		i = get_random_u32_below(ARRAY_SIZE(param_flips));
		gss_svc_param_set(GSS_SVC_WINDOW, param_flips[i]);
		complete(flipped);
		schedule();
	}
	return 0;
}

/* The value changes all the time; what is signed is what is sent */
static void param_changes_while_init_is_answered(struct kunit *test)
{
	struct init_test *it = test->priv;
	unsigned int i, seen[4] = { };
	const u32 first = it->handle;
	struct init_reply reply, again;
	struct completion flipped;
	struct task_struct *flipper;
	bool good = true;

	param_reset_later(test);
	init_completion(&flipped);
	flipper = kthread_run(param_flipper, &flipped, "gss-svc-flip");
	KUNIT_ASSERT_FALSE(test, IS_ERR(flipper));

	for (i = 0; i < 400; i++) {
		it->handle = first + ((i + 1) << 16);
		good = !init_test_write_context(it, false) &&
		       !init_test_write_answer(it, GSS_S_COMPLETE) &&
		       init_test_init_context(it, &reply);
		/* At least once, also where there is one CPU only */
		reinit_completion(&flipped);
		good = good && wait_for_completion_timeout(&flipped, 10 * HZ) &&
		       init_test_init_context(it, &again);
		if (!good)
			break;
		init_test_expect_window(test, &reply, reply.window);
		KUNIT_EXPECT_MEMEQ(test, &reply, &again, sizeof(reply));
		seen[0] += reply.window == 128;
		seen[1] += reply.window == 1000;
		seen[2] += reply.window == 8192;
		seen[3] += reply.window == 1024;
		KUNIT_EXPECT_EQ(test, i + 1, seen[0] + seen[1] + seen[2] +
				seen[3]);
	}
	kthread_stop(flipper);
	KUNIT_EXPECT_TRUE(test, good);
	/* It did change meanwhile */
	for (i = 0; i < ARRAY_SIZE(seen); i++)
		KUNIT_EXPECT_NE(test, 0, seen[i]);

	cache_purge(init_test_net()->rsc_cache);
	cache_purge(init_test_net()->rsi_cache);
	it->handle = first;
	KUNIT_EXPECT_EQ(test, 0, init_test_allocated(it));
}

/* What an admin sees */

/* The only context that is good now */
static struct cache_head *context_hold(struct cache_detail *cd)
{
	struct cache_head *ch, *found = NULL;
	int i;

	rcu_read_lock();
	for (i = 0; i < cd->hash_size && !found; i++)
		hlist_for_each_entry_rcu(ch, &cd->hash_table[i], cache_list)
			if (test_bit(CACHE_VALID, &ch->flags) &&
			    !test_bit(CACHE_NEGATIVE, &ch->flags))
				found = cache_get_rcu(ch);
	rcu_read_unlock();
	return found;
}

static void show_make(struct kunit *test, struct seq_file *m)
{
	memset(m, 0, sizeof(*m));
	m->size = PAGE_SIZE;
	m->buf = kunit_kzalloc(test, m->size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->buf);
}

/* The line of 'content' that has the handle */
static bool show_context(struct seq_file *m, u32 handle)
{
	struct cache_detail *cd = init_test_net()->rsc_cache;
	struct cache_head *ch;
	bool found = false;
	char want[16];
	int i;

	snprintf(want, sizeof(want), "\\x%08x ", handle);
	rcu_read_lock();
	for (i = 0; i < cd->hash_size && !found; i++) {
		hlist_for_each_entry_rcu(ch, &cd->hash_table[i], cache_list) {
			m->count = 0;
			cd->cache_show(m, cd, ch);
			m->buf[m->count] = '\0';
			found = strstarts(m->buf, want);
			if (found)
				break;
		}
	}
	rcu_read_unlock();
	return found;
}

static void content_shows_a_context(struct kunit *test)
{
	struct cache_detail *cd = init_test_net()->rsc_cache;
	struct init_test *it = test->priv;
	struct init_reply reply;
	struct seq_file m;
	char want[64];

	/* Arrange */
	show_make(test, &m);
	init_test_establish(test);
	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));
	init_test_data(it, 20000);
	init_test_data(it, 19990);
	init_test_data(it, 19990);
	init_test_data(it, 20000 - TEST_HISTORY);
	init_test_data(it, 1);
	init_test_data(it, 2);

	/* Act, Assert */
	snprintf(want, sizeof(want), "\\x%08x 1024 8192 20000 0 2 3 1 10\n",
		 it->handle);
	KUNIT_ASSERT_TRUE(test, show_context(&m, it->handle));
	KUNIT_EXPECT_STREQ(test, want, m.buf);

	m.count = 0;
	KUNIT_EXPECT_EQ(test, 0, cd->cache_show(&m, cd, NULL));
	m.buf[m.count] = '\0';
	KUNIT_EXPECT_TRUE(test, strstarts(m.buf, "#handle window history max floor "));
}

/* A context that is not there yet, or never will be, has nothing to show */
static void content_shows_no_context(struct kunit *test)
{
	struct init_test *it = test->priv;
	struct seq_file m;
	char want[64];

	show_make(test, &m);
	KUNIT_ASSERT_EQ(test, 0, init_test_write_context(it, true));

	snprintf(want, sizeof(want), "\\x%08x 0 128 0 0 0 0 0 0\n",
		 it->handle);
	KUNIT_ASSERT_TRUE(test, show_context(&m, it->handle));
	KUNIT_EXPECT_STREQ(test, want, m.buf);
}

/* Of the entry that a new one took the handle from */
static void content_shows_a_context_without_its_handle(struct kunit *test)
{
	struct cache_detail *cd = init_test_net()->rsc_cache;
	struct init_test *it = test->priv;
	struct cache_head *held;
	struct seq_file m;

	show_make(test, &m);
	KUNIT_ASSERT_EQ(test, 0, init_test_write_context(it, false));
	held = context_hold(cd);
	KUNIT_ASSERT_NOT_NULL(test, held);
	KUNIT_ASSERT_EQ(test, 0, init_test_write_context(it, false));

	KUNIT_EXPECT_EQ(test, 0, cd->cache_show(&m, cd, held));
	m.buf[m.count] = '\0';
	KUNIT_EXPECT_STREQ(test, "\\x 0 128 0 0 0 0 0 0\n", m.buf);
	cache_put(held, cd);
	cache_purge(cd);
}

static void server_counts_what_it_judged(struct kunit *test)
{
	struct init_test *it = test->priv;
	struct gss_svc_stats was, is;
	struct init_reply reply;
	unsigned int i;

	/* A connection, which somebody is using, so that it is not freed */
	set_bit(XPT_TEMP, &it->rqstp->rq_xprt->xpt_flags);
	set_bit(XPT_BUSY, &it->rqstp->rq_xprt->xpt_flags);
	init_test_establish(test);
	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));
	gss_svc_stats_sum(&init_net, &was);

	for (i = 0; i < 5; i++)
		init_test_data(it, 100000 + i);		/* accepted */
	init_test_data(it, 92000);			/* accepted */
	for (i = 0; i < 3; i++)
		init_test_data(it, 92000);		/* seen */
	/* That connection is closed, this is another one */
	clear_bit(XPT_CLOSE, &it->rqstp->rq_xprt->xpt_flags);
	for (i = 0; i < 7; i++)
		init_test_data(it, i);			/* low */
	for (i = 0; i < 2; i++)
		init_test_data(it, MAXSEQ + 1 + i);	/* large */
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_CLOSE,
					 &it->rqstp->rq_xprt->xpt_flags));
	/* A UDP socket is not closed */
	clear_bit(XPT_CLOSE, &it->rqstp->rq_xprt->xpt_flags);
	clear_bit(XPT_TEMP, &it->rqstp->rq_xprt->xpt_flags);
	init_test_data(it, 3);				/* low */
	KUNIT_EXPECT_FALSE(test, test_bit(XPT_CLOSE,
					  &it->rqstp->rq_xprt->xpt_flags));

	gss_svc_stats_sum(&init_net, &is);
	KUNIT_EXPECT_EQ(test, 6, is.accepted - was.accepted);
	KUNIT_EXPECT_EQ(test, 3, is.seen - was.seen);
	KUNIT_EXPECT_EQ(test, 8, is.low - was.low);
	KUNIT_EXPECT_EQ(test, 2, is.large - was.large);
	KUNIT_EXPECT_EQ(test, 2, is.closes - was.closes);
	KUNIT_EXPECT_GE(test, is.max_lag, 8004);
}

static void server_shows_what_it_counted(struct kunit *test)
{
	unsigned long contexts, bytes, contexts_now, bytes_now;
	struct init_test *it = test->priv;
	struct gss_svc_stats sum;
	struct init_reply reply;
	struct seq_file m;
	char want[256];

	show_make(test, &m);
	m.private = &init_net;
	gss_svc_count_contexts(&init_net, &contexts, &bytes);
	init_test_establish(test);
	gss_svc_count_contexts(&init_net, &contexts_now, &bytes_now);
	KUNIT_EXPECT_EQ(test, 1, contexts_now - contexts);
	KUNIT_EXPECT_EQ(test, 0, bytes_now - bytes);
	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));
	init_test_data(it, 1);
	gss_svc_count_contexts(&init_net, &contexts_now, &bytes_now);
	KUNIT_EXPECT_EQ(test, 1, contexts_now - contexts);
	KUNIT_EXPECT_EQ(test, TEST_HISTORY / BITS_PER_BYTE, bytes_now - bytes);

	gss_svc_stats_sum(&init_net, &sum);
	KUNIT_ASSERT_EQ(test, 0, gss_svc_stats_show(&m, NULL));
	m.buf[m.count] = '\0';
	snprintf(want, sizeof(want),
		 "accepted %lu\nlow %lu\nseen %lu\nlarge %lu\ncloses %lu\n"
		 "max_lag %u\ncontexts %lu\nbytes %lu\n",
		 sum.accepted, sum.low, sum.seen, sum.large, sum.closes,
		 sum.max_lag, contexts_now, bytes_now);
	KUNIT_EXPECT_STREQ(test, want, m.buf);
}

/* Contexts that nobody has been authenticated for */

static void context_goes_on(struct kunit *test)
{
	struct init_test *it = test->priv;
	struct init_reply reply;

	KUNIT_ASSERT_EQ(test, 0, init_test_write_answer(it,
							GSS_S_CONTINUE_NEEDED));
	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));

	KUNIT_EXPECT_EQ(test, GSS_S_CONTINUE_NEEDED, reply.major);
	KUNIT_EXPECT_EQ(test, RPC_AUTH_NULL, reply.verf_flavor);
	KUNIT_EXPECT_EQ(test, GSS_SEQ_WIN, reply.window);
	KUNIT_EXPECT_EQ(test, 0, init_test_allocated(it));
}

static void context_is_missing(struct kunit *test)
{
	struct init_test *it = test->priv;
	struct init_reply reply;

	KUNIT_ASSERT_EQ(test, 0, init_test_write_answer(it, GSS_S_COMPLETE));
	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));

	KUNIT_EXPECT_EQ(test, GSS_S_NO_CONTEXT, reply.major);
	KUNIT_EXPECT_EQ(test, RPC_AUTH_NULL, reply.verf_flavor);
	KUNIT_EXPECT_EQ(test, 0, init_test_allocated(it));
}

static void context_is_refused(struct kunit *test)
{
	struct init_test *it = test->priv;
	struct init_reply reply;

	KUNIT_ASSERT_EQ(test, 0, init_test_write_context(it, true));
	KUNIT_ASSERT_EQ(test, 0, init_test_write_answer(it, GSS_S_COMPLETE));
	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));

	KUNIT_EXPECT_EQ(test, GSS_S_NO_CONTEXT, reply.major);
	KUNIT_EXPECT_FALSE(test, init_test_data(it, 1));
	KUNIT_EXPECT_EQ(test, 0, init_test_allocated(it));
}

/* What comes from the daemon is no good: the entry stays empty, and goes */
static void context_is_never_written(struct kunit *test)
{
	struct cache_detail *cd = init_test_net()->rsc_cache;
	struct init_test *it = test->priv;
	char mesg[128];
	int len;

	len = scnprintf(mesg, sizeof(mesg), "\\x%08x %lld 0 0 0 none \\x00\n",
			it->handle, ktime_get_real_seconds() + 600);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, cd->cache_parse(cd, mesg, len));
	KUNIT_EXPECT_FALSE(test, init_test_data(it, 1));

	cache_purge(cd);
	KUNIT_EXPECT_EQ(test, 0, init_test_allocated(it));
}

static void context_is_unknown(struct kunit *test)
{
	struct init_test *it = test->priv;

	KUNIT_EXPECT_FALSE(test, init_test_data(it, 1));
	KUNIT_EXPECT_EQ(test, 0, init_test_allocated(it));
}

/* The end of a context */

static void context_is_destroyed(struct kunit *test)
{
	struct init_test *it = test->priv;
	struct init_reply reply;

	init_test_establish(test);
	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 1));

	KUNIT_EXPECT_TRUE(test, init_test_destroy(it, 2));

	KUNIT_EXPECT_EQ(test, 0, init_test_allocated(it));
	KUNIT_EXPECT_FALSE(test, init_test_data(it, 3));
}

/* As by a Call that is being served */
static void context_is_destroyed_while_it_is_used(struct kunit *test)
{
	struct cache_detail *cd = init_test_net()->rsc_cache;
	struct init_test *it = test->priv;
	struct init_reply reply;
	struct cache_head *held;

	init_test_establish(test);
	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));
	held = context_hold(cd);
	KUNIT_ASSERT_NOT_NULL(test, held);

	KUNIT_EXPECT_TRUE(test, init_test_destroy(it, 1));
	KUNIT_EXPECT_EQ(test, TEST_HISTORY / BITS_PER_BYTE,
			init_test_allocated(it));

	cache_put(held, cd);
	KUNIT_EXPECT_EQ(test, 0, init_test_allocated(it));
}

/*
 * No daemon does that. If one did, the Calls that are being served would
 * keep the old window, and the new context would start with its own.
 */
static void context_is_written_again(struct kunit *test)
{
	struct cache_detail *cd = init_test_net()->rsc_cache;
	struct init_test *it = test->priv;
	struct init_reply reply;
	struct cache_head *held;

	init_test_establish(test);
	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 1000));
	held = context_hold(cd);
	KUNIT_ASSERT_NOT_NULL(test, held);

	KUNIT_ASSERT_EQ(test, 0, init_test_write_context(it, false));

	/* Of a size that needs nothing allocated, until the next INIT */
	KUNIT_EXPECT_TRUE(test, init_test_data(it, 1000));
	KUNIT_EXPECT_FALSE(test, init_test_data(it, 1000));
	KUNIT_EXPECT_FALSE(test, init_test_data(it, 1000 - GSS_SEQ_WIN));
	KUNIT_EXPECT_EQ(test, TEST_HISTORY / BITS_PER_BYTE,
			init_test_allocated(it));
	KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));
	KUNIT_EXPECT_EQ(test, 2 * TEST_HISTORY / BITS_PER_BYTE,
			init_test_allocated(it));
	cache_put(held, cd);

	KUNIT_EXPECT_TRUE(test, init_test_destroy(it, 1001));
	cache_purge(cd);
	KUNIT_EXPECT_EQ(test, 0, init_test_allocated(it));
}

#define TEST_CONTEXTS	10000

static void contexts_come_and_go(struct kunit *test)
{
	struct cache_detail *cd = init_test_net()->rsc_cache;
	struct init_test *it = test->priv;
	const u32 first = it->handle;
	struct init_reply reply;
	unsigned int i;

	/* Not the tests' next ones */
	for (i = 0; i < TEST_CONTEXTS; i++) {
		it->handle = first + ((i + 1) << 16);
		init_test_establish(test);
		KUNIT_ASSERT_TRUE(test, init_test_init_context(it, &reply));
	}
	KUNIT_EXPECT_EQ(test, TEST_CONTEXTS * TEST_HISTORY / BITS_PER_BYTE,
			init_test_allocated(it));

	/* As 'flush' does, and as they would expire */
	cache_purge(cd);
	cache_purge(init_test_net()->rsi_cache);
	KUNIT_EXPECT_EQ(test, 0, init_test_allocated(it));
	it->handle = first;
}

static struct kunit_case init_test_cases[] = {
	KUNIT_CASE(init_remembers_more_than_it_advertises),
	KUNIT_CASE(init_sent_again_changes_nothing),
	KUNIT_CASE(init_answered_after_the_first_calls),
	KUNIT_CASE(init_makes_do_without_memory),
	KUNIT_CASE_PARAM(init_advertises_by_the_threads, daemon_gen_params),
	KUNIT_CASE(init_sent_again_after_threads_were_added),
	KUNIT_CASE_PARAM(param_is_set_or_refused, param_gen_params),
	KUNIT_CASE(param_history_holds_the_window),
	KUNIT_CASE(param_brings_the_old_window_back),
	KUNIT_CASE(param_is_for_contexts_to_come),
	KUNIT_CASE(param_changes_while_init_is_answered),
	KUNIT_CASE(content_shows_a_context),
	KUNIT_CASE(content_shows_no_context),
	KUNIT_CASE(content_shows_a_context_without_its_handle),
	KUNIT_CASE(server_counts_what_it_judged),
	KUNIT_CASE(server_shows_what_it_counted),
	KUNIT_CASE(context_goes_on),
	KUNIT_CASE(context_is_missing),
	KUNIT_CASE(context_is_refused),
	KUNIT_CASE(context_is_never_written),
	KUNIT_CASE(context_is_unknown),
	KUNIT_CASE(context_is_destroyed),
	KUNIT_CASE(context_is_destroyed_while_it_is_used),
	KUNIT_CASE(context_is_written_again),
	KUNIT_CASE(contexts_come_and_go),
	{}
};

static struct kunit_suite init_test_suite = {
	.name		= "gss_svc_init",
	.suite_init	= init_test_suite_init,
	.suite_exit	= init_test_suite_exit,
	.init		= init_test_init,
	.exit		= init_test_exit,
	.test_cases	= init_test_cases,
};

kunit_test_suite(init_test_suite);

MODULE_DESCRIPTION("KUnit tests for the window of RPCSEC_GSS contexts on the server");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
