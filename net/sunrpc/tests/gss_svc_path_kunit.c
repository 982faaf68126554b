// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for what a GSS Call meets on its way to the sequence window
 * (RFC 2203 Section 5.3.3)
 *
 * Calls are judged in the order in which threads get to the window, not in
 * that of their arrival: one that sleeps before is overtaken, and is lost
 * when it is overtaken by more than a window. So that section must neither
 * sleep nor allocate memory.
 *
 * The server's own svcauth_gss_accept() takes Calls of the Kerberos V
 * mechanism, which is dressed as another one to learn when the section
 * ends: the first thing behind the window is the MIC of the Reply.
 */

#include <kunit/test.h>
#include <linux/cred.h>
#include <linux/debugfs.h>
#include <linux/hex.h>
#include <linux/kmsg_dump.h>
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/sunrpc/auth_gss.h>
#include <linux/sunrpc/gss_api.h>
#include <linux/sunrpc/gss_err.h>
#include <linux/sunrpc/gss_krb5.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svcauth.h>

#include "../netns.h"

#define TEST_FLAVOR	0x20000046
#define TEST_PROGRAM	0x20000046
#define TEST_KEYLEN	32
#define TEST_PAGES	8
#define TEST_WIRE_LEN	(TEST_PAGES * PAGE_SIZE)
#define TEST_FLAG_INITIATOR	1
#define TEST_SMALL	(3 * XDR_UNIT)
/* As much as the scatterlists on the stack can hold, and more */
#define TEST_MEDIUM	(3 * PAGE_SIZE)
#define TEST_LARGE	(6 * PAGE_SIZE)
/* More allocations than any Call needs */
#define TEST_NEVER	100000
/* Now and then an allocation takes another one, for the allocator's own use */
#define TEST_TRIES	5

/* Format of a context that gssd and svcgssd export */
struct path_export {
	u32			flags;
	u32			endtime;
	u64			seq_send;
	u32			enctype;
	u8			key[TEST_KEYLEN];
} __packed;

enum path_watch {
	PATH_WATCH_NOTHING,
	PATH_WATCH_ALLOCATION,
	PATH_WATCH_ALL_OF_ACCEPT,	/* its allocations */
	PATH_WATCH_PREEMPT,
	PATH_WATCH_NON_BLOCK,
};

struct path_test {
	struct auth_domain	*dom;
	struct gss_ctx		client;
	u32			handle;
	u32			seqno;		/* of the last Call */
	u8			*wire;		/* the Call, in one piece */
	size_t			wire_len;

	struct svc_rqst		*rqstp;
	struct page		*pages[TEST_PAGES];
	struct page		*respages[TEST_PAGES];

	enum path_watch		watch;
	bool			inside;		/* the section */
	unsigned int		allocations;	/* seen there */
};

/* One test at a time */
static struct path_test *path_current;
static struct gss_api_mech *path_krb5;

/* The section from svcauth_gss_accept() to the window */

static void path_set_fail_nth(unsigned int nth)
{
#if IS_ENABLED(CONFIG_FAULT_INJECTION)
	WRITE_ONCE(current->fail_nth, nth);
#endif
}

static unsigned int path_fail_nth(void)
{
#if IS_ENABLED(CONFIG_FAULT_INJECTION)
	return READ_ONCE(current->fail_nth);
#else
	return 0;
#endif
}

static void path_enter(struct path_test *pt)
{
	pt->inside = true;
	switch (pt->watch) {
	case PATH_WATCH_ALLOCATION:
	case PATH_WATCH_ALL_OF_ACCEPT:
		/* Each allocation that could be made to fail counts down */
		path_set_fail_nth(TEST_NEVER);
		break;
	case PATH_WATCH_PREEMPT:
		preempt_disable();
		break;
	case PATH_WATCH_NON_BLOCK:
		non_block_start();
		break;
	default:
		break;
	}
}

static void path_leave(struct path_test *pt)
{
	if (!pt->inside)
		return;
	pt->inside = false;
	switch (pt->watch) {
	case PATH_WATCH_ALLOCATION:
	case PATH_WATCH_ALL_OF_ACCEPT:
		pt->allocations = TEST_NEVER - path_fail_nth();
		path_set_fail_nth(0);
		break;
	case PATH_WATCH_PREEMPT:
		preempt_enable();
		break;
	case PATH_WATCH_NON_BLOCK:
		non_block_end();
		break;
	default:
		break;
	}
}

static u32 path_get_mic(struct gss_ctx *ctx, struct xdr_buf *text,
			struct xdr_netobj *token)
{
	if (path_current->watch != PATH_WATCH_ALL_OF_ACCEPT)
		path_leave(path_current);
	return path_krb5->gm_ops->gss_get_mic(ctx, text, token);
}

/* The rest is that of Kerberos V */
static struct gss_api_ops path_ops;

static struct pf_desc path_pfs[] = {
	{
		.pseudoflavor	= TEST_FLAVOR,
		.service	= RPC_GSS_SVC_NONE,
		.name		= "path",
	},
	{
		.pseudoflavor	= TEST_FLAVOR + 1,
		.service	= RPC_GSS_SVC_INTEGRITY,
		.name		= "pathi",
	},
	{
		.pseudoflavor	= TEST_FLAVOR + 2,
		.service	= RPC_GSS_SVC_PRIVACY,
		.name		= "pathp",
	},
};

static struct gss_api_mech path_mech = {
	.gm_name	= "gss-svc-path",
	.gm_owner	= THIS_MODULE,
	.gm_ops		= &path_ops,
	.gm_pf_num	= ARRAY_SIZE(path_pfs),
	.gm_pfs		= path_pfs,
};

/* Fault injection, as an admin sets it */

static void *path_knob(struct kunit *test, const char *attr, const char *name)
{
	struct dentry *dir, *file = NULL;
	void *knob;

	dir = debugfs_lookup(attr, NULL);
	if (!IS_ERR_OR_NULL(dir)) {
		file = debugfs_lookup(name, dir);
		dput(dir);
	}
	if (IS_ERR_OR_NULL(file))
		kunit_skip(test, "no %s/%s in debugfs", attr, name);
	knob = d_inode(file)->i_private;
	dput(file);
	return knob;
}

struct path_saved {
	void			*knob;
	unsigned long		value;
	size_t			size;
};

static void path_restore_knob(void *data)
{
	struct path_saved *saved = data;

	memcpy(saved->knob, &saved->value, saved->size);
}

/* Clear a knob until the end of the test */
static void path_clear_knob(struct kunit *test, const char *attr,
			    const char *name, size_t size)
{
	void *knob = path_knob(test, attr, name);
	struct path_saved *saved;
	int ret;

	saved = kunit_kzalloc(test, sizeof(*saved), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, saved);
	saved->knob = knob;
	saved->size = size;
	memcpy(&saved->value, knob, size);
	ret = kunit_add_action_or_reset(test, path_restore_knob, saved);
	KUNIT_ASSERT_EQ(test, 0, ret);
	memset(knob, 0, size);
}

static void path_count(struct kunit *test, const char *attr)
{
	path_clear_knob(test, attr, "ignore-gfp-wait", sizeof(bool));
	path_clear_knob(test, attr, "times", sizeof(atomic_t));
	path_clear_knob(test, attr, "verbose", sizeof(unsigned long));
}

/* Let objects of every kind count, and be made to fail in silence */
static void path_count_objects(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_FAULT_INJECTION_DEBUG_FS) ||
	    !IS_ENABLED(CONFIG_FAILSLAB))
		kunit_skip(test, "needs FAILSLAB and FAULT_INJECTION_DEBUG_FS");
	path_count(test, "failslab");
}

/* What one object counts for: memory checkers have one each beside it */
static unsigned int path_count_of_one(void)
{
	unsigned int i, count, least = TEST_NEVER;
	void *object;

	for (i = 0; i < TEST_TRIES; i++) {
		path_set_fail_nth(TEST_NEVER);
		object = kmalloc(TEST_SMALL, GFP_NOFS);
		count = TEST_NEVER - path_fail_nth();
		path_set_fail_nth(0);
		kfree(object);
		least = min(least, count);
	}
	return least;
}

/* Pages, too, also those that an object happens to need */
static void path_count_allocations(struct kunit *test)
{
	path_count_objects(test);
	if (!IS_ENABLED(CONFIG_FAIL_PAGE_ALLOC))
		kunit_skip(test, "needs FAIL_PAGE_ALLOC");
	path_count(test, "fail_page_alloc");
	path_clear_knob(test, "fail_page_alloc", "ignore-gfp-highmem",
			sizeof(bool));
	path_clear_knob(test, "fail_page_alloc", "min-order", sizeof(u32));
}

/* The client */

static __be32 *path_put_header(struct path_test *pt, u32 gss_proc, u32 service)
{
	__be32 *begin = (__be32 *)pt->wire, *p = begin;
	struct xdr_netobj mic;
	struct xdr_buf buf;
	struct kvec iov;

	*p++ = cpu_to_be32(0x1e000000 + pt->seqno);	/* xid */
	*p++ = rpc_call;
	*p++ = cpu_to_be32(RPC_VERSION);
	*p++ = cpu_to_be32(TEST_PROGRAM);
	*p++ = cpu_to_be32(1);				/* version */
	*p++ = cpu_to_be32(gss_proc == RPC_GSS_PROC_DATA);
	*p++ = rpc_auth_gss;
	*p++ = cpu_to_be32(6 * XDR_UNIT);
	*p++ = cpu_to_be32(RPC_GSS_VERSION);
	*p++ = cpu_to_be32(gss_proc);
	*p++ = cpu_to_be32(pt->seqno);
	*p++ = cpu_to_be32(service);
	*p++ = cpu_to_be32(sizeof(pt->handle));
	*p++ = cpu_to_be32(pt->handle);

	iov.iov_base = begin;
	iov.iov_len = (u8 *)p - pt->wire;
	xdr_buf_from_iov(&iov, &buf);
	mic.data = (u8 *)(p + 2);
	if (path_krb5->gm_ops->gss_get_mic(&pt->client, &buf, &mic))
		return NULL;
	*p++ = rpc_auth_gss;
	*p++ = cpu_to_be32(mic.len);
	return p + XDR_QUADLEN(mic.len);
}

static __be32 *path_put_args(struct path_test *pt, __be32 *p, size_t len)
{
	memset(p, 0xa5, len);
	return p + XDR_QUADLEN(len);
}

static __be32 *path_put_integ(struct path_test *pt, __be32 *p, size_t len)
{
	__be32 *body = p + 1;
	struct xdr_netobj mic;
	struct xdr_buf buf;
	struct kvec iov;

	*p = cpu_to_be32(XDR_UNIT + len);
	*body = cpu_to_be32(pt->seqno);
	p = path_put_args(pt, body + 1, len);

	iov.iov_base = body;
	iov.iov_len = (u8 *)p - (u8 *)body;
	xdr_buf_from_iov(&iov, &buf);
	mic.data = (u8 *)(p + 1);
	if (path_krb5->gm_ops->gss_get_mic(&pt->client, &buf, &mic))
		return NULL;
	*p++ = cpu_to_be32(mic.len);
	return p + XDR_QUADLEN(mic.len);
}

static __be32 *path_put_priv(struct path_test *pt, __be32 *p, size_t len)
{
	__be32 *token = p + 1;
	struct xdr_buf buf = {
		.head[0].iov_base	= token,
		.head[0].iov_len	= XDR_UNIT + len,
		.len			= XDR_UNIT + len,
		.buflen			= pt->wire + TEST_WIRE_LEN - (u8 *)token,
	};

	*token = cpu_to_be32(pt->seqno);
	path_put_args(pt, token + 1, len);
	if (path_krb5->gm_ops->gss_wrap(&pt->client, 0, &buf, buf.pages))
		return NULL;
	*p = cpu_to_be32(buf.len);
	return token + XDR_QUADLEN(buf.len);
}

/* Build the next Call */
static bool path_build(struct path_test *pt, u32 gss_proc, u32 service,
		       size_t len)
{
	__be32 *p;

	pt->seqno++;
	p = path_put_header(pt, gss_proc, service);
	if (p && gss_proc == RPC_GSS_PROC_DATA) {
		switch (service) {
		case RPC_GSS_SVC_INTEGRITY:
			p = path_put_integ(pt, p, len);
			break;
		case RPC_GSS_SVC_PRIVACY:
			p = path_put_priv(pt, p, len);
			break;
		default:
			p = path_put_args(pt, p, len);
		}
	}
	if (!p)
		return false;
	pt->wire_len = (u8 *)p - pt->wire;
	return true;
}

/* The server */

/* What a transport does, and svc_process() up to the credential's body */
static void path_receive(struct path_test *pt)
{
	struct svc_rqst *rqstp = pt->rqstp;
	struct xdr_stream *xdr = &rqstp->rq_arg_stream;
	struct xdr_buf *arg = &rqstp->rq_arg;
	struct xdr_buf *res = &rqstp->rq_res;
	unsigned int i;
	__be32 *p;

	for (i = 0; i < TEST_PAGES; i++)
		memcpy(page_address(pt->pages[i]), pt->wire + i * PAGE_SIZE,
		       PAGE_SIZE);
	memset(arg, 0, sizeof(*arg));
	arg->head[0].iov_base = page_address(pt->pages[0]);
	arg->head[0].iov_len = min(pt->wire_len, PAGE_SIZE);
	arg->pages = &pt->pages[1];
	arg->page_len = pt->wire_len - arg->head[0].iov_len;
	arg->buflen = TEST_WIRE_LEN;
	arg->len = pt->wire_len;

	rqstp->rq_next_page = &pt->respages[1];
	memset(res, 0, sizeof(*res));
	res->head[0].iov_base = page_address(pt->respages[0]);
	res->pages = rqstp->rq_next_page;
	res->buflen = PAGE_SIZE;

	svcxdr_init_decode(rqstp);
	p = xdr_inline_decode(xdr, 6 * XDR_UNIT);
	rqstp->rq_xid = p[0];
	rqstp->rq_proc = be32_to_cpu(p[5]);
	svcxdr_init_encode(rqstp);
	xdr_stream_encode_be32(&rqstp->rq_res_stream, rqstp->rq_xid);
	xdr_stream_encode_be32(&rqstp->rq_res_stream, rpc_reply);
	xdr_stream_encode_be32(&rqstp->rq_res_stream, rpc_msg_accepted);

	xdr_inline_decode(xdr, XDR_UNIT);		/* flavor */
	rqstp->rq_auth_stat = rpc_auth_ok;
	rqstp->rq_auth_slack = 0;
	init_svc_cred(&rqstp->rq_cred);
}

static enum svc_auth_status path_accept(struct path_test *pt)
{
	enum svc_auth_status status;

	path_enter(pt);
	status = pt->dom->flavour->accept(pt->rqstp);
	path_leave(pt);
	return status;
}

/* The Reply is not asked for */
static void path_release(struct path_test *pt)
{
	pt->rqstp->rq_auth_stat = rpc_autherr_badcred;
	pt->dom->flavour->release(pt->rqstp);
}

/* As a thread that has not seen a GSS Call yet */
static void path_forget_thread(struct path_test *pt)
{
	kfree(pt->rqstp->rq_auth_data);
	pt->rqstp->rq_auth_data = NULL;
}

static enum svc_auth_status path_call(struct path_test *pt, u32 gss_proc,
				      u32 service, size_t len)
{
	enum svc_auth_status status;

	if (!path_build(pt, gss_proc, service, len))
		return SVC_GARBAGE;
	path_receive(pt);
	status = path_accept(pt);
	path_release(pt);
	return status;
}

struct enctype_case {
	const char		*desc;
	u32			enctype;
	size_t			keylen;
};

static const struct enctype_case enctype_cases[] = {
	{ "aes128-cts-hmac-sha1-96",		17, 16 },
	{ "aes256-cts-hmac-sha1-96",		18, 32 },
	{ "aes128-cts-hmac-sha256-128",		19, 16 },
	{ "aes256-cts-hmac-sha384-192",		20, 32 },
	{ "camellia128-cts-cmac",		25, 16 },
	{ "camellia256-cts-cmac",		26, 32 },
};

KUNIT_ARRAY_PARAM_DESC(enctype, enctype_cases, desc);

static size_t path_export_len(const struct enctype_case *param)
{
	return offsetof(struct path_export, key) + param->keylen;
}

static void path_export(struct path_export *export,
			const struct enctype_case *param, u32 flags)
{
	memset(export, 0, sizeof(*export));
	export->flags = flags;
	export->endtime = U32_MAX;
	export->enctype = param->enctype;
	memset(export->key, 0x2a, param->keylen);
}

static int path_import(struct gss_ctx *ctx, const struct enctype_case *param,
		       u32 flags)
{
	struct path_export export;

	path_export(&export, param, flags);
	ctx->mech_type = path_krb5;
	return path_krb5->gm_ops->gss_import_sec_context(&export,
				path_export_len(param), ctx, NULL, GFP_KERNEL);
}

static void path_drop(struct gss_ctx *ctx)
{
	if (ctx->internal_ctx_id)
		path_krb5->gm_ops->gss_delete_sec_context(ctx->internal_ctx_id);
	ctx->internal_ctx_id = NULL;
}

/* What rpc.svcgssd writes once the client is known */
static int path_downcall(struct kunit *test, const struct enctype_case *param)
{
	struct sunrpc_net *sn = net_generic(&init_net, sunrpc_net_id);
	struct cache_detail *cd = sn->rsc_cache;
	struct path_test *pt = test->priv;
	struct path_export export;
	char *mesg, *end;
	int len;

	mesg = kunit_kzalloc(test, 256, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mesg);
	len = scnprintf(mesg, 256, "\\x%08x %lld 0 0 0 %s \\x", pt->handle,
			ktime_get_real_seconds() + 600, path_mech.gm_name);
	path_export(&export, param, 0);
	end = bin2hex(mesg + len, &export, path_export_len(param));
	*end++ = '\n';
	return cd->cache_parse(cd, mesg, end - mesg);
}

static int path_test_suite_init(struct kunit_suite *suite)
{
	path_krb5 = gss_mech_get_by_name("krb5");
	if (!path_krb5)
		return 0;
	path_ops = *path_krb5->gm_ops;
	path_ops.gss_get_mic = path_get_mic;
	return gss_mech_register(&path_mech);
}

static void path_test_suite_exit(struct kunit_suite *suite)
{
	if (!path_krb5)
		return;
	gss_mech_unregister(&path_mech);
	gss_mech_put(path_krb5);
}

static struct page *path_alloc_page(struct kunit *test)
{
	void *page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	return virt_to_page(page);
}

KUNIT_DEFINE_ACTION_WRAPPER(path_put_folio, folio_put, struct folio *);

static int path_test_init(struct kunit *test)
{
	const struct enctype_case *param = test->param_value;
	static u32 last_handle = 0x4b560000;
	struct svc_rqst *rqstp;
	struct path_test *pt;
	unsigned int i;

	if (!path_krb5)
		kunit_skip(test, "no Kerberos V mechanism");
	pt = kunit_kzalloc(test, sizeof(*pt), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pt);
	pt->handle = ++last_handle;
	pt->wire = kunit_kzalloc(test, TEST_WIRE_LEN, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pt->wire);
	rqstp = kunit_kzalloc(test, sizeof(*rqstp), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rqstp);
	pt->rqstp = rqstp;
	for (i = 0; i < TEST_PAGES; i++) {
		pt->pages[i] = path_alloc_page(test);
		pt->respages[i] = path_alloc_page(test);
	}
	rqstp->rq_pages = pt->pages;
	rqstp->rq_respages = pt->respages;
	rqstp->rq_page_end = pt->respages + TEST_PAGES;
	rqstp->rq_scratch_folio = folio_alloc(GFP_KERNEL, 0);
	KUNIT_ASSERT_NOT_NULL(test, rqstp->rq_scratch_folio);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, path_put_folio,
						  rqstp->rq_scratch_folio));
	rqstp->rq_bc_net = &init_net;

	if (path_import(&pt->client, param, TEST_FLAG_INITIATOR))
		kunit_skip(test, "no such encryption type");
	test->priv = pt;
	path_current = pt;
	KUNIT_ASSERT_EQ(test, 0, path_downcall(test, param));
	pt->dom = auth_domain_find("gss/path");
	KUNIT_ASSERT_NOT_NULL(test, pt->dom);
	return 0;
}

static void path_test_exit(struct kunit *test)
{
	struct path_test *pt = test->priv;

	if (!pt)
		return;
	pt->watch = PATH_WATCH_NOTHING;
	if (pt->dom) {
		path_call(pt, RPC_GSS_PROC_DESTROY, RPC_GSS_SVC_NONE, 0);
		auth_domain_put(pt->dom);
	}
	path_forget_thread(pt);
	path_drop(&pt->client);
	path_current = NULL;
}

static const struct path_service {
	const char		*name;
	u32			service;
	size_t			len;
} path_services[] = {
	{ "krb5",			RPC_GSS_SVC_NONE,	TEST_SMALL },
	{ "krb5i",			RPC_GSS_SVC_INTEGRITY,	TEST_SMALL },
	{ "krb5i with many pages",	RPC_GSS_SVC_INTEGRITY,	TEST_LARGE },
	{ "krb5p",			RPC_GSS_SVC_PRIVACY,	TEST_SMALL },
	{ "krb5p with many pages",	RPC_GSS_SVC_PRIVACY,	TEST_LARGE },
};

/* A Call each, under watch, of a thread that has seen one before */
static void path_watch_services(struct kunit *test, enum path_watch watch)
{
	struct path_test *pt = test->priv;
	const struct path_service *ps;

	KUNIT_ASSERT_EQ(test, SVC_OK, path_call(pt, RPC_GSS_PROC_DATA,
						RPC_GSS_SVC_NONE, TEST_SMALL));
	for (ps = path_services; ps < ARRAY_END(path_services); ps++) {
		pt->watch = PATH_WATCH_NOTHING;
		KUNIT_ASSERT_TRUE(test, path_build(pt, RPC_GSS_PROC_DATA,
						   ps->service, ps->len));
		path_receive(pt);
		pt->watch = watch;
		pt->allocations = 0;
		KUNIT_EXPECT_EQ_MSG(test, SVC_OK, path_accept(pt), "%s",
				    ps->name);
		KUNIT_EXPECT_EQ_MSG(test, 0, pt->allocations, "%s", ps->name);
		path_release(pt);
	}
}

static void path_allocates_nothing(struct kunit *test)
{
	path_count_allocations(test);
	path_watch_services(test, PATH_WATCH_ALLOCATION);
}

/* A splat in the kernel's log; there is no other sign of it but a taint */

static bool path_log_has_splat(struct kmsg_dump_iter *iter)
{
	bool found = false;
	char line[160];
	size_t len;

	while (kmsg_dump_get_line(iter, false, line, sizeof(line), &len))
		if (strnstr(line, "BUG: sleeping function", len) ||
		    strnstr(line, "BUG: scheduling while atomic", len))
			found = true;
	return found;
}

static void path_never_sleeps(struct kunit *test, enum path_watch watch)
{
	static unsigned long last_splat;
	struct kmsg_dump_iter iter;
	bool tainted, splat;

	if (!IS_ENABLED(CONFIG_DEBUG_ATOMIC_SLEEP) || !IS_ENABLED(CONFIG_PRINTK))
		kunit_skip(test, "needs DEBUG_ATOMIC_SLEEP and PRINTK");

	/* The kernel reports one in a second, no more */
	if (last_splat && time_before_eq(jiffies, last_splat + HZ))
		schedule_timeout_uninterruptible(last_splat + HZ + 1 - jiffies);
	kmsg_dump_rewind(&iter);
	path_log_has_splat(&iter);
	tainted = test_taint(TAINT_WARN);

	path_watch_services(test, watch);

	splat = path_log_has_splat(&iter);
	if (splat)
		last_splat = jiffies;
	KUNIT_EXPECT_FALSE(test, splat);
	KUNIT_EXPECT_EQ(test, tainted, test_taint(TAINT_WARN));
}

static void path_never_sleeps_without_preemption(struct kunit *test)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "spinlocks sleep");
	path_never_sleeps(test, PATH_WATCH_PREEMPT);
}

static void path_never_sleeps_in_a_non_blocking_section(struct kunit *test)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "spinlocks sleep");
	path_never_sleeps(test, PATH_WATCH_NON_BLOCK);
}

/* Let the nth allocation of a new thread's Call fail; true if there is one */
static bool path_fail(struct kunit *test, const struct path_service *ps,
		      unsigned int nth)
{
	struct path_test *pt = test->priv;
	enum svc_auth_status status;
	bool failed;

	path_forget_thread(pt);
	KUNIT_ASSERT_TRUE(test, path_build(pt, RPC_GSS_PROC_DATA, ps->service,
					   ps->len));
	path_receive(pt);

	path_set_fail_nth(nth);
	status = path_accept(pt);
	failed = !path_fail_nth();
	path_set_fail_nth(0);

	/* An allocation that can be done without may fail */
	if (!failed || status != SVC_CLOSE)
		KUNIT_EXPECT_EQ_MSG(test, SVC_OK, status, "%s, allocation %u",
				    ps->name, nth);
	path_release(pt);
	return failed;
}

/* A Call that finds no memory is closed, and never judged */
static void path_succeeds_or_closes(struct kunit *test)
{
	const struct path_service *ps;
	unsigned int nth;

	path_count_allocations(test);
	for (ps = path_services; ps < ARRAY_END(path_services); ps++) {
		nth = 1;
		while (nth < TEST_NEVER && path_fail(test, ps, nth))
			nth++;
		/* At least the thread's state and the Reply's MIC */
		KUNIT_EXPECT_GT_MSG(test, nth, 2, "%s", ps->name);
	}
}

/* Beside the MIC of the Reply, only long scatterlists need memory */
static void path_verifies_arguments_with_little(struct kunit *test)
{
	static const struct {
		size_t		len;
		unsigned int	allocations;
	} sizes[] = {
		{ TEST_SMALL,	1 },
		{ TEST_MEDIUM,	1 },
		{ TEST_LARGE,	2 },
	};
	struct path_test *pt = test->priv;
	unsigned int i, try, least;

	path_count_objects(test);
	KUNIT_ASSERT_EQ(test, SVC_OK, path_call(pt, RPC_GSS_PROC_DATA,
						RPC_GSS_SVC_NONE, TEST_SMALL));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		least = TEST_NEVER;
		for (try = 0; try < TEST_TRIES; try++) {
			pt->watch = PATH_WATCH_ALL_OF_ACCEPT;
			KUNIT_EXPECT_EQ(test, SVC_OK,
					path_call(pt, RPC_GSS_PROC_DATA,
						  RPC_GSS_SVC_INTEGRITY,
						  sizes[i].len));
			least = min(least, pt->allocations);
		}
		KUNIT_EXPECT_EQ_MSG(test, least,
				    sizes[i].allocations * path_count_of_one(),
				    "%zu octets", sizes[i].len);
	}
}

/* The client, for whom nobody waits, allocates as it always did */
static void path_of_a_reply_is_as_before(struct kunit *test)
{
	const struct enctype_case *param = test->param_value;
	struct path_test *pt = test->priv;
	struct gss_ctx server = { };
	unsigned int try, least = TEST_NEVER;
	struct xdr_netobj mic;
	struct xdr_buf buf;
	struct kvec iov;
	u32 status;

	path_count_objects(test);
	KUNIT_ASSERT_EQ(test, 0, path_import(&server, param, 0));
	iov.iov_base = pt->wire;
	iov.iov_len = XDR_UNIT;
	xdr_buf_from_iov(&iov, &buf);
	mic.data = pt->wire + PAGE_SIZE;
	status = path_krb5->gm_ops->gss_get_mic(&server, &buf, &mic);
	path_drop(&server);
	KUNIT_ASSERT_EQ(test, GSS_S_COMPLETE, status);

	for (try = 0; try < TEST_TRIES; try++) {
		pt->watch = PATH_WATCH_ALLOCATION;
		path_enter(pt);
		status = path_krb5->gm_ops->gss_verify_mic(&pt->client, &buf,
							   &mic);
		path_leave(pt);
		KUNIT_EXPECT_EQ(test, GSS_S_COMPLETE, status);
		least = min(least, pt->allocations);
	}
	KUNIT_EXPECT_EQ(test, path_count_of_one(), least);
}

static struct kunit_case path_test_cases[] = {
	KUNIT_CASE_PARAM(path_allocates_nothing, enctype_gen_params),
	KUNIT_CASE_PARAM(path_never_sleeps_without_preemption,
			 enctype_gen_params),
	KUNIT_CASE_PARAM(path_never_sleeps_in_a_non_blocking_section,
			 enctype_gen_params),
	KUNIT_CASE_PARAM(path_succeeds_or_closes, enctype_gen_params),
	KUNIT_CASE_PARAM(path_verifies_arguments_with_little,
			 enctype_gen_params),
	KUNIT_CASE_PARAM(path_of_a_reply_is_as_before, enctype_gen_params),
	{}
};

static struct kunit_suite path_test_suite = {
	.name		= "gss_svc_path",
	.suite_init	= path_test_suite_init,
	.suite_exit	= path_test_suite_exit,
	.init		= path_test_init,
	.exit		= path_test_exit,
	.test_cases	= path_test_cases,
};

kunit_test_suite(path_test_suite);

MODULE_DESCRIPTION("KUnit tests for the way of a GSS Call to its window");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
