// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for RPCSEC_GSS Calls on their way through the server
 * (RFC 2203 Section 5.3)
 *
 * A service with one thread, a transport that hands it one Call at a
 * time, and a GSS context in the cache where the downcall of rpc.svcgssd
 * puts it: the rest is the server's own path, from svc_recv() to
 * xpo_sendto, deferral and revisit included. The mechanism is a toy: its
 * MIC is a checksum of the message, its encryption an exclusive or.
 */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/sunrpc/auth_gss.h>
#include <linux/sunrpc/gss_err.h>
#include <linux/sunrpc/gss_krb5.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/svcauth.h>
#include <linux/sunrpc/svcsock.h>

#include "../fail.h"
#include "../netns.h"

#define TEST_PROGRAM	0x20000043
#define TEST_XPRT	"gss-svc-call"
#define TEST_CRYPT	0x5a
#define TEST_MIC_LEN	XDR_UNIT
#define TEST_ARGS	3
#define TEST_RESULT	0x600dcafe
#define TEST_TIMEOUT	(10 * HZ)

/* What the mechanism is asked for, in the order of a Call's way */
enum toy_op {
	TOY_NOTHING,
	TOY_VERIFY_HEADER,
	TOY_VERIFY_BODY,
	TOY_UNWRAP,
	TOY_SIGN_VERIFIER,
	TOY_SIGN_REPLY,
	TOY_WRAP,
};

/* What the program found where its arguments should be */
struct call_sight {
	bool			deferred;
	unsigned int		pos;
	unsigned int		nr;
	u32			words[2 * TEST_ARGS];
};

struct call_test {
	u32			handle;
	u32			seqno;		/* of the last Call */
	enum rpc_gss_svc	service;

	struct svc_serv		*serv;
	struct call_xprt	*xprt;		/* the open connection */
	struct completion	event;
	bool			closed;
	__be32			reply[64];
	size_t			reply_len;

	unsigned int		to_defer;
	struct cache_deferred_req *dreq;
	unsigned int		nr_sights;
	struct call_sight	sights[4];

	unsigned int		verified;	/* MICs checked for a Call */
	unsigned int		signed_off;	/* MICs made for its Reply */
	unsigned int		unwrapped;
	enum toy_op		fail_op;	/* fails once ... */
	u32			fail_status;	/* ... with this */
};

struct call_xprt {
	struct svc_xprt		xprt;
	struct call_test	*ct;
	__be32			call[64];
	size_t			call_len;
};

/* One test at a time; contexts and transports are made for it */
static struct call_test *call_test_current;

/* The toy mechanism */

static __be32 toy_checksum(struct xdr_buf *message)
{
	u32 sum = 2166136261u;
	unsigned int i;
	u8 octet;

	for (i = 0; i < message->len; i++) {
		if (read_bytes_from_xdr_buf(message, i, &octet, 1))
			return xdr_zero;
		sum = (sum ^ octet) * 16777619u;
	}
	return cpu_to_be32(sum);
}

static __be32 toy_mic(void *begin, void *end)
{
	struct kvec iov = {
		.iov_base	= begin,
		.iov_len	= (u8 *)end - (u8 *)begin,
	};
	struct xdr_buf buf;

	xdr_buf_from_iov(&iov, &buf);
	return toy_checksum(&buf);
}

static void toy_crypt(u8 *octets, size_t len)
{
	while (len--)
		*octets++ ^= TEST_CRYPT;
}

static int toy_import(const void *token, size_t len, struct gss_ctx *ctx,
		      time64_t *endtime, gfp_t gfp)
{
	ctx->internal_ctx_id = call_test_current;
	return 0;
}

/* The status that an operation of the mechanism ends with */
static u32 toy_status(struct call_test *ct, enum toy_op op)
{
	if (ct->fail_op != op)
		return GSS_S_COMPLETE;
	ct->fail_op = TOY_NOTHING;
	return ct->fail_status;
}

/* The context lives in the test, which the cache may outlive */
static void toy_delete(void *internal_ctx)
{
}

static u32 toy_get_mic(struct gss_ctx *ctx, struct xdr_buf *message,
		       struct xdr_netobj *mic)
{
	struct call_test *ct = ctx->internal_ctx_id;
	__be32 sum = toy_checksum(message);

	mic->len = TEST_MIC_LEN;
	memcpy(mic->data, &sum, sizeof(sum));
	return toy_status(ct, ct->signed_off++ ? TOY_SIGN_REPLY :
						 TOY_SIGN_VERIFIER);
}

static u32 toy_verify_mic(struct gss_ctx *ctx, struct xdr_buf *message,
			  struct xdr_netobj *mic)
{
	struct call_test *ct = ctx->internal_ctx_id;
	__be32 expected = toy_checksum(message);
	u32 status;

	status = toy_status(ct, ct->verified++ ? TOY_VERIFY_BODY :
						 TOY_VERIFY_HEADER);
	if (status != GSS_S_COMPLETE)
		return status;
	if (mic->len != TEST_MIC_LEN ||
	    memcmp(mic->data, &expected, sizeof(expected)))
		return GSS_S_BAD_SIG;
	return GSS_S_COMPLETE;
}

/* A token: header, ciphertext, and a word behind it that is cut off */

static u32 toy_wrap(struct gss_ctx *ctx, int offset, struct xdr_buf *buf,
		    struct page **pages)
{
	struct call_test *ct = ctx->internal_ctx_id;
	struct kvec *head = buf->head;
	u8 *p = head->iov_base + offset;
	size_t len = head->iov_len - offset;
	u32 status;

	status = toy_status(ct, TOY_WRAP);
	if (status != GSS_S_COMPLETE)
		return status;

	memmove(p + GSS_KRB5_TOK_HDR_LEN, p, len);
	memset(p, 0, GSS_KRB5_TOK_HDR_LEN);
	toy_crypt(p + GSS_KRB5_TOK_HDR_LEN, len);
	head->iov_len += GSS_KRB5_TOK_HDR_LEN;
	buf->len += GSS_KRB5_TOK_HDR_LEN;
	return GSS_S_COMPLETE;
}

static u32 toy_unwrap(struct gss_ctx *ctx, int offset, int end,
		      struct xdr_buf *buf)
{
	struct call_test *ct = ctx->internal_ctx_id;
	u8 *p = buf->head[0].iov_base + offset;
	size_t len = end - offset - GSS_KRB5_TOK_HDR_LEN;
	u32 status;

	status = toy_status(ct, TOY_UNWRAP);
	if (status != GSS_S_COMPLETE)
		return status;

	ct->unwrapped++;
	toy_crypt(p + GSS_KRB5_TOK_HDR_LEN, len);
	memmove(p, p + GSS_KRB5_TOK_HDR_LEN, len);
	buf->head[0].iov_len -= GSS_KRB5_TOK_HDR_LEN;
	buf->len = end - GSS_KRB5_TOK_HDR_LEN;
	xdr_buf_trim(buf, TEST_MIC_LEN);
	return GSS_S_COMPLETE;
}

static const struct gss_api_ops toy_ops = {
	.gss_import_sec_context	= toy_import,
	.gss_get_mic		= toy_get_mic,
	.gss_verify_mic		= toy_verify_mic,
	.gss_wrap		= toy_wrap,
	.gss_unwrap		= toy_unwrap,
	.gss_delete_sec_context	= toy_delete,
};

/* Pseudoflavors that nobody else has */
static struct pf_desc toy_pfs[] = {
	{
		.pseudoflavor	= 0x20000043,
		.service	= RPC_GSS_SVC_NONE,
		.name		= "toy",
	},
	{
		.pseudoflavor	= 0x20000044,
		.service	= RPC_GSS_SVC_INTEGRITY,
		.name		= "toyi",
	},
	{
		.pseudoflavor	= 0x20000045,
		.service	= RPC_GSS_SVC_PRIVACY,
		.name		= "toyp",
	},
};

static struct gss_api_mech toy_mech = {
	.gm_name	= "gss-svc-call-toy",
	.gm_owner	= THIS_MODULE,
	.gm_ops		= &toy_ops,
	.gm_pf_num	= ARRAY_SIZE(toy_pfs),
	.gm_pfs		= toy_pfs,
};

/* The transport: what is sent is kept, and so is that it was closed */

static struct call_test *call_test_of(struct svc_rqst *rqstp)
{
	return container_of(rqstp->rq_xprt, struct call_xprt, xprt)->ct;
}

static int call_xprt_recvfrom(struct svc_rqst *rqstp)
{
	struct svc_xprt *xprt = rqstp->rq_xprt;
	struct call_xprt *cx = container_of(xprt, struct call_xprt, xprt);
	struct xdr_buf *arg = &rqstp->rq_arg;
	size_t len = 0;

	/* A revisit leaves the transport queued once too often */
	if (test_and_clear_bit(XPT_DATA, &xprt->xpt_flags))
		len = cx->call_len;
	memcpy(arg->head[0].iov_base, cx->call, len);
	arg->head[0].iov_len = len;
	arg->page_len = 0;
	arg->len = len;
	svc_xprt_copy_addrs(rqstp, xprt);
	svc_xprt_received(xprt);
	return len;
}

static int call_xprt_sendto(struct svc_rqst *rqstp)
{
	struct call_test *ct = call_test_of(rqstp);
	struct kvec *head = rqstp->rq_res.head;

	ct->reply_len = min(head->iov_len, sizeof(ct->reply));
	memcpy(ct->reply, head->iov_base, ct->reply_len);
	complete(&ct->event);
	return rqstp->rq_res.len;
}

static int call_xprt_has_wspace(struct svc_xprt *xprt)
{
	return 1;
}

static void call_xprt_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
}

static void call_xprt_detach(struct svc_xprt *xprt)
{
	struct call_xprt *cx = container_of(xprt, struct call_xprt, xprt);

	cx->ct->closed = true;
	complete(&cx->ct->event);
}

static void call_xprt_free(struct svc_xprt *xprt)
{
	kfree(container_of(xprt, struct call_xprt, xprt));
}

static struct svc_xprt_class call_xprt_class;

static struct svc_xprt *call_xprt_create(struct svc_serv *serv,
					 struct net *net, struct sockaddr *sap,
					 int salen, int flags)
{
	struct call_xprt *cx = kzalloc_obj(*cx);

	if (!cx)
		return ERR_PTR(-ENOMEM);
	svc_xprt_init(net, &call_xprt_class, &cx->xprt, serv);
	svc_xprt_set_local(&cx->xprt, sap, salen);
	svc_xprt_set_remote(&cx->xprt, sap, salen);
	cx->ct = call_test_current;
	cx->ct->xprt = cx;
	return &cx->xprt;
}

static const struct svc_xprt_ops call_xprt_ops = {
	.xpo_create		= call_xprt_create,
	.xpo_recvfrom		= call_xprt_recvfrom,
	.xpo_sendto		= call_xprt_sendto,
	.xpo_has_wspace		= call_xprt_has_wspace,
	.xpo_release_ctxt	= call_xprt_release_ctxt,
	.xpo_detach		= call_xprt_detach,
	.xpo_free		= call_xprt_free,
};

static struct svc_xprt_class call_xprt_class = {
	.xcl_name		= TEST_XPRT,
	.xcl_owner		= THIS_MODULE,
	.xcl_ops		= &call_xprt_ops,
	.xcl_max_payload	= PAGE_SIZE,
};

/* The program: one procedure, which looks at its arguments */

static void call_test_look(struct call_test *ct, struct svc_rqst *rqstp)
{
	struct xdr_stream xdr = rqstp->rq_arg_stream;
	struct call_sight *sight;

	if (ct->nr_sights == ARRAY_SIZE(ct->sights))
		return;
	sight = &ct->sights[ct->nr_sights++];
	sight->deferred = rqstp->rq_deferred;
	sight->pos = xdr_stream_pos(&xdr);
	while (sight->nr < ARRAY_SIZE(sight->words) &&
	       !xdr_stream_decode_u32(&xdr, &sight->words[sight->nr]))
		sight->nr++;
}

static enum svc_auth_status call_test_authenticate(struct svc_rqst *rqstp)
{
	struct call_test *ct = call_test_of(rqstp);

	call_test_look(ct, rqstp);
	if (ct->to_defer) {
		/* As a cache does that waits for its daemon's answer */
		ct->to_defer--;
		ct->dreq = rqstp->rq_chandle.defer(&rqstp->rq_chandle);
		complete(&ct->event);
		return SVC_DROP;
	}
	rqstp->rq_auth_stat = rpc_auth_ok;
	return SVC_OK;
}

static int call_test_dispatch(struct svc_rqst *rqstp)
{
	return xdr_stream_encode_u32(&rqstp->rq_res_stream, TEST_RESULT) > 0;
}

static __be32 call_test_func(struct svc_rqst *rqstp)
{
	return rpc_success;
}

static bool call_test_encode(struct svc_rqst *rqstp, struct xdr_stream *xdr)
{
	return true;
}

static const struct svc_procedure call_test_proc = {
	.pc_func	= call_test_func,
	.pc_encode	= call_test_encode,
	.pc_name	= "CALL",
};

static __be32 call_test_init_request(struct svc_rqst *rqstp,
				     const struct svc_program *progp,
				     struct svc_process_info *process)
{
	rqstp->rq_procinfo = &call_test_proc;
	process->dispatch = call_test_dispatch;
	return rpc_success;
}

static struct svc_program call_test_program = {
	.pg_prog		= TEST_PROGRAM,
	.pg_name		= "gss-svc-call",
	.pg_authenticate	= call_test_authenticate,
	.pg_init_request	= call_test_init_request,
};

static int call_test_thread(void *data)
{
	struct svc_rqst *rqstp = data;

	svc_thread_init_status(rqstp, 0);
	while (!svc_thread_should_stop(rqstp))
		svc_recv(rqstp, 0);
	svc_exit_thread(rqstp);
	return 0;
}

/* The client */

static const u32 call_test_args[TEST_ARGS] = {
	0xa1a1a1a1, 0xb2b2b2b2, 0xc3c3c3c3,
};

static __be32 *call_test_put_args(__be32 *p)
{
	unsigned int i;

	for (i = 0; i < TEST_ARGS; i++)
		*p++ = cpu_to_be32(call_test_args[i]);
	return p;
}

static __be32 *call_test_put_header(struct call_test *ct, __be32 *begin,
				    u32 gss_proc)
{
	__be32 *p = begin;

	*p++ = cpu_to_be32(0x1d000000 + ct->seqno);	/* xid */
	*p++ = rpc_call;
	*p++ = cpu_to_be32(RPC_VERSION);
	*p++ = cpu_to_be32(TEST_PROGRAM);
	*p++ = cpu_to_be32(1);				/* version */
	*p++ = cpu_to_be32(gss_proc == RPC_GSS_PROC_DATA);
	*p++ = rpc_auth_gss;
	*p++ = cpu_to_be32(6 * XDR_UNIT);
	*p++ = cpu_to_be32(RPC_GSS_VERSION);
	*p++ = cpu_to_be32(gss_proc);
	*p++ = cpu_to_be32(ct->seqno);
	*p++ = cpu_to_be32(ct->service);
	*p++ = cpu_to_be32(sizeof(ct->handle));
	*p++ = cpu_to_be32(ct->handle);
	*p = rpc_auth_gss;
	p[1] = cpu_to_be32(TEST_MIC_LEN);
	p[2] = toy_mic(begin, p);
	return p + 3;
}

static __be32 *call_test_put_integ(struct call_test *ct, __be32 *p)
{
	__be32 *databody = p + 1;

	*p = cpu_to_be32((1 + TEST_ARGS) * XDR_UNIT);
	p = databody;
	*p++ = cpu_to_be32(ct->seqno);
	p = call_test_put_args(p);
	*p = cpu_to_be32(TEST_MIC_LEN);
	p[1] = toy_mic(databody, p);
	return p + 2;
}

static __be32 *call_test_put_priv(struct call_test *ct, __be32 *p)
{
	__be32 *len = p++, *token = p, *plain;

	memset(p, 0, GSS_KRB5_TOK_HDR_LEN);
	p += XDR_QUADLEN(GSS_KRB5_TOK_HDR_LEN);
	plain = p;
	*p++ = cpu_to_be32(ct->seqno);
	p = call_test_put_args(p);
	*p++ = xdr_zero;
	toy_crypt((u8 *)plain, (u8 *)p - (u8 *)plain);
	*len = cpu_to_be32((u8 *)p - (u8 *)token);
	return p;
}

/* Build a Call in the transport's buffer */
static void call_test_build(struct call_test *ct, u32 gss_proc)
{
	struct call_xprt *cx = ct->xprt;
	__be32 *p;

	p = call_test_put_header(ct, cx->call, gss_proc);
	if (gss_proc != RPC_GSS_PROC_DATA)
		goto out;
	switch (ct->service) {
	case RPC_GSS_SVC_INTEGRITY:
		p = call_test_put_integ(ct, p);
		break;
	case RPC_GSS_SVC_PRIVACY:
		p = call_test_put_priv(ct, p);
		break;
	default:
		p = call_test_put_args(p);
	}
out:
	cx->call_len = (u8 *)p - (u8 *)cx->call;
}

/* Wait for a Reply, a closed connection, or a deferral */
static bool call_test_wait(struct call_test *ct)
{
	return wait_for_completion_timeout(&ct->event, TEST_TIMEOUT);
}

static bool call_test_send(struct call_test *ct)
{
	struct svc_xprt *xprt = &ct->xprt->xprt;

	ct->reply_len = 0;
	ct->dreq = NULL;
	ct->verified = 0;
	ct->signed_off = 0;
	reinit_completion(&ct->event);
	set_bit(XPT_DATA, &xprt->xpt_flags);
	svc_xprt_enqueue(xprt);
	return call_test_wait(ct);
}

/* The cache has its answer */
static bool call_test_revisit(struct call_test *ct)
{
	struct cache_deferred_req *dreq = ct->dreq;

	ct->dreq = NULL;
	reinit_completion(&ct->event);
	dreq->revisit(dreq, 0);
	return call_test_wait(ct);
}

/* A Reply that says MSG_DENIED, AUTH_ERROR, and why; zero if it is none */
static u32 call_test_auth_stat(struct call_test *ct)
{
	if (ct->closed || ct->reply_len != 5 * XDR_UNIT ||
	    ct->reply[2] != cpu_to_be32(RPC_MSG_DENIED) ||
	    ct->reply[3] != cpu_to_be32(RPC_AUTH_ERROR))
		return 0;
	return be32_to_cpu(ct->reply[4]);
}

static bool call_test_accepted(struct call_test *ct)
{
	return !ct->closed && ct->reply_len > 5 * XDR_UNIT &&
	       ct->reply[2] == rpc_msg_accepted &&
	       ct->reply[3] == rpc_auth_gss;
}

/* A connection as accept makes it: one that may be closed on its own */
static int call_test_connect(struct call_test *ct)
{
	int ret;

	ct->closed = false;
	ret = svc_xprt_create(ct->serv, TEST_XPRT, &init_net, PF_INET, 0, 0,
			      current_cred());
	if (ret < 0)
		return ret;
	set_bit(XPT_PEER_VALID, &ct->xprt->xprt.xpt_flags);
	set_bit(XPT_TEMP, &ct->xprt->xprt.xpt_flags);
	return 0;
}

static struct cache_detail *call_test_cache(void)
{
	struct sunrpc_net *sn = net_generic(&init_net, sunrpc_net_id);

	return sn->rsc_cache;
}

/* What rpc.svcgssd writes once the client is known */
static int call_test_downcall(struct call_test *ct)
{
	struct cache_detail *cd = call_test_cache();
	char mesg[128];
	int len;

	len = scnprintf(mesg, sizeof(mesg), "\\x%08x %lld 0 0 0 %s \\x00\n",
			ct->handle, ktime_get_real_seconds() + 600,
			toy_mech.gm_name);
	return cd->cache_parse(cd, mesg, len);
}

static void call_test_next(struct call_test *ct)
{
	ct->seqno++;
	call_test_build(ct, RPC_GSS_PROC_DATA);
}

static int call_test_suite_init(struct kunit_suite *suite)
{
	int ret;

	ret = gss_mech_register(&toy_mech);
	if (ret)
		return ret;
	ret = svc_reg_xprt_class(&call_xprt_class);
	if (ret)
		gss_mech_unregister(&toy_mech);
	return ret;
}

static void call_test_suite_exit(struct kunit_suite *suite)
{
	svc_unreg_xprt_class(&call_xprt_class);
	gss_mech_unregister(&toy_mech);
}

static int call_test_init(struct kunit *test)
{
	static u32 last_handle = 0x4b550000;
	struct call_test *ct;

	ct = kunit_kzalloc(test, sizeof(*ct), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ct);
	test->priv = ct;
	ct->handle = ++last_handle;
	init_completion(&ct->event);
	call_test_current = ct;

	KUNIT_ASSERT_EQ(test, 0, call_test_downcall(ct));

	ct->serv = svc_create(&call_test_program, PAGE_SIZE, call_test_thread);
	KUNIT_ASSERT_NOT_NULL(test, ct->serv);
	KUNIT_ASSERT_EQ(test, 0, svc_set_num_threads(ct->serv, 0, 1));
	KUNIT_ASSERT_EQ(test, 0, call_test_connect(ct));
	return 0;
}

/* The client leaves, and takes the context with it */
static void call_test_destroy_context(struct call_test *ct)
{
	ct->to_defer = 0;
	if (ct->closed && call_test_connect(ct))
		return;
	ct->seqno++;
	call_test_build(ct, RPC_GSS_PROC_DESTROY);
	call_test_send(ct);
}

static void call_test_exit(struct kunit *test)
{
	struct call_test *ct = test->priv;

	if (!ct || !ct->serv)
		return;
	if (ct->dreq)
		ct->dreq->revisit(ct->dreq, 1);
	if (ct->xprt)
		call_test_destroy_context(ct);
	svc_xprt_destroy_all(ct->serv, &init_net, false);
	svc_set_num_threads(ct->serv, 0, 0);
	svc_destroy(&ct->serv);
	call_test_current = NULL;
}

struct service_case {
	const char		*desc;
	enum rpc_gss_svc	service;
};

static const struct service_case service_cases[] = {
	{ "krb5",	RPC_GSS_SVC_NONE },
	{ "krb5i",	RPC_GSS_SVC_INTEGRITY },
	{ "krb5p",	RPC_GSS_SVC_PRIVACY },
};

KUNIT_ARRAY_PARAM_DESC(service, service_cases, desc);

/* The program found its arguments, and nothing behind them */
static void call_test_expect_args(struct kunit *test, unsigned int nr)
{
	struct call_test *ct = test->priv;
	struct call_sight *sight = &ct->sights[nr];

	KUNIT_ASSERT_GT(test, ct->nr_sights, nr);
	KUNIT_EXPECT_EQ(test, ct->sights[0].pos, sight->pos);
	KUNIT_ASSERT_EQ(test, TEST_ARGS, sight->nr);
	KUNIT_EXPECT_MEMEQ(test, call_test_args, sight->words,
			   sizeof(call_test_args));
}

/* A Call that waited for a cache has the arguments it came with */
static void call_deferred_and_revisited(struct kunit *test)
{
	const struct service_case *param = test->param_value;
	struct call_test *ct = test->priv;
	unsigned int verified, unwrapped;

	/* Arrange */
	ct->service = param->service;
	ct->to_defer = 1;
	call_test_next(ct);

	/* Act, Assert: the first pass */
	KUNIT_ASSERT_TRUE(test, call_test_send(ct));
	KUNIT_ASSERT_NOT_NULL(test, ct->dreq);
	KUNIT_EXPECT_FALSE(test, ct->sights[0].deferred);
	call_test_expect_args(test, 0);
	verified = ct->verified;
	unwrapped = ct->unwrapped;

	/* Act, Assert: the second */
	KUNIT_ASSERT_TRUE(test, call_test_revisit(ct));
	KUNIT_EXPECT_TRUE(test, ct->sights[1].deferred);
	call_test_expect_args(test, 1);
	KUNIT_EXPECT_TRUE(test, call_test_accepted(ct));
	KUNIT_EXPECT_EQ(test, verified, ct->verified);
	KUNIT_EXPECT_EQ(test, unwrapped, ct->unwrapped);
}

/* One that has to wait for a second cache is not worn out by the first */
static void call_deferred_twice(struct kunit *test)
{
	const struct service_case *param = test->param_value;
	struct call_test *ct = test->priv;

	ct->service = param->service;
	ct->to_defer = 2;
	call_test_next(ct);

	KUNIT_ASSERT_TRUE(test, call_test_send(ct));
	KUNIT_ASSERT_NOT_NULL(test, ct->dreq);
	KUNIT_ASSERT_TRUE(test, call_test_revisit(ct));
	KUNIT_ASSERT_NOT_NULL(test, ct->dreq);
	KUNIT_ASSERT_TRUE(test, call_test_revisit(ct));

	call_test_expect_args(test, 1);
	call_test_expect_args(test, 2);
	KUNIT_EXPECT_TRUE(test, call_test_accepted(ct));
}

/* Words of an integrity-protected Call's body */
enum {
	INTEG_LEN,
	INTEG_SEQNO,
	INTEG_ARGS,
};

struct integ_case {
	const char	*desc;
	unsigned int	word;
	u32		value;
};

/* Of a Call whose sequence number is 1 and whose body has sixteen octets */
static const struct integ_case revisit_cases[] = {
	{ "length beyond the message",	INTEG_LEN,	20 },
	{ "length near the limit",	INTEG_LEN,	0xfffffffc },
	{ "length not a multiple",	INTEG_LEN,	14 },
	{ "another sequence number",	INTEG_SEQNO,	2 },
};

KUNIT_ARRAY_PARAM_DESC(revisit, revisit_cases, desc);

/* The fields before the arguments are checked in the second pass, too */
static void call_deferred_with_a_bad_body(struct kunit *test)
{
	const struct integ_case *param = test->param_value;
	struct call_test *ct = test->priv;
	struct svc_deferred_req *dr;

	/* Arrange */
	ct->service = RPC_GSS_SVC_INTEGRITY;
	ct->to_defer = 1;
	call_test_next(ct);
	KUNIT_ASSERT_TRUE(test, call_test_send(ct));
	KUNIT_ASSERT_NOT_NULL(test, ct->dreq);
	dr = container_of(ct->dreq, struct svc_deferred_req, handle);
	dr->args[dr->argslen - TEST_ARGS - INTEG_ARGS + param->word] =
		cpu_to_be32(param->value);

	/* Act */
	KUNIT_ASSERT_TRUE(test, call_test_revisit(ct));

	/* Assert */
	KUNIT_EXPECT_EQ(test, RPC_AUTH_BADCRED, call_test_auth_stat(ct));
	KUNIT_EXPECT_EQ(test, 1, ct->nr_sights);
}

static const struct integ_case receive_cases[] = {
	{ "length beyond the message",	INTEG_LEN,	28 },
	{ "length near the limit",	INTEG_LEN,	0xfffffffc },
	{ "length not a multiple",	INTEG_LEN,	14 },
	{ "length takes in the checksum", INTEG_LEN,	24 },
	{ "another sequence number",	INTEG_SEQNO,	2 },
};

KUNIT_ARRAY_PARAM_DESC(receive, receive_cases, desc);

/* What the first pass refuses never gets to the program */
static void call_with_a_bad_body(struct kunit *test)
{
	const struct integ_case *param = test->param_value;
	struct call_test *ct = test->priv;
	struct call_xprt *cx = ct->xprt;
	__be32 *body;

	/* Arrange */
	ct->service = RPC_GSS_SVC_INTEGRITY;
	call_test_next(ct);
	body = cx->call + XDR_QUADLEN(cx->call_len) - TEST_ARGS - INTEG_ARGS - 2;
	body[param->word] = cpu_to_be32(param->value);
	/* Under a checksum that is good: the peer has the key */
	body[INTEG_ARGS + TEST_ARGS + 1] =
		toy_mic(body + INTEG_SEQNO, body + INTEG_ARGS + TEST_ARGS);

	/* Act */
	KUNIT_ASSERT_TRUE(test, call_test_send(ct));

	/* Assert */
	KUNIT_EXPECT_EQ(test, RPC_AUTH_BADCRED, call_test_auth_stat(ct));
	KUNIT_EXPECT_EQ(test, 0, ct->nr_sights);
}

/* A body of no octets has no number; what follows it does not count */
static void call_with_an_empty_body(struct kunit *test)
{
	struct call_test *ct = test->priv;
	struct call_xprt *cx = ct->xprt;
	__be32 *p;

	/* Arrange: the number is that of the checksum's octets */
	ct->service = RPC_GSS_SVC_INTEGRITY;
	ct->seqno = TEST_MIC_LEN;
	p = call_test_put_header(ct, cx->call, RPC_GSS_PROC_DATA);
	*p++ = xdr_zero;
	*p++ = cpu_to_be32(TEST_MIC_LEN);
	*p = toy_mic(p, p);
	p++;
	cx->call_len = (u8 *)p - (u8 *)cx->call;

	/* Act */
	KUNIT_ASSERT_TRUE(test, call_test_send(ct));

	/* Assert */
	KUNIT_EXPECT_EQ(test, RPC_AUTH_BADCRED, call_test_auth_stat(ct));
	KUNIT_EXPECT_EQ(test, 0, ct->nr_sights);
}

struct failure_case {
	const char		*desc;
	enum rpc_gss_svc	service;
	u32			gss_proc;
	enum toy_op		op;
	u32			status;
	u32			auth_stat;
	bool			taken;	/* the sequence number, by then */
};

static const struct failure_case memory_cases[] = {
	{
		.desc		= "header",
		.service	= RPC_GSS_SVC_NONE,
		.op		= TOY_VERIFY_HEADER,
	},
	{
		.desc		= "header of a DESTROY",
		.service	= RPC_GSS_SVC_NONE,
		.gss_proc	= RPC_GSS_PROC_DESTROY,
		.op		= TOY_VERIFY_HEADER,
	},
	{
		.desc		= "arguments, krb5i",
		.service	= RPC_GSS_SVC_INTEGRITY,
		.op		= TOY_VERIFY_BODY,
		.taken		= true,
	},
	{
		.desc		= "arguments, krb5p",
		.service	= RPC_GSS_SVC_PRIVACY,
		.op		= TOY_UNWRAP,
		.taken		= true,
	},
	{
		.desc		= "verifier of the Reply",
		.service	= RPC_GSS_SVC_NONE,
		.op		= TOY_SIGN_VERIFIER,
		.taken		= true,
	},
	{
		.desc		= "verifier of the Reply to a DESTROY",
		.service	= RPC_GSS_SVC_NONE,
		.gss_proc	= RPC_GSS_PROC_DESTROY,
		.op		= TOY_SIGN_VERIFIER,
		.taken		= true,
	},
	{
		.desc		= "results, krb5i",
		.service	= RPC_GSS_SVC_INTEGRITY,
		.op		= TOY_SIGN_REPLY,
		.taken		= true,
	},
	{
		.desc		= "results, krb5p",
		.service	= RPC_GSS_SVC_PRIVACY,
		.op		= TOY_WRAP,
		.taken		= true,
	},
};

KUNIT_ARRAY_PARAM_DESC(memory, memory_cases, desc);

/* Send the next Call, during which the mechanism fails */
static bool call_test_fail(struct call_test *ct,
			   const struct failure_case *param, u32 status)
{
	ct->service = param->service;
	ct->seqno++;
	call_test_build(ct, param->gss_proc);
	ct->fail_op = param->op;
	ct->fail_status = status;
	return call_test_send(ct);
}

/* The connection goes; the context and its credential are as good as before */
static void call_closed_for_lack_of_memory(struct kunit *test)
{
	const struct failure_case *param = test->param_value;
	struct call_test *ct = test->priv;

	/* Act */
	KUNIT_ASSERT_TRUE(test, call_test_fail(ct, param, GSS_S_UNAVAILABLE));

	/* Assert */
	KUNIT_EXPECT_EQ(test, TOY_NOTHING, ct->fail_op);
	KUNIT_EXPECT_EQ(test, 0, ct->reply_len);
	KUNIT_ASSERT_TRUE(test, ct->closed);

	KUNIT_ASSERT_EQ(test, 0, call_test_connect(ct));
	call_test_next(ct);
	KUNIT_ASSERT_TRUE(test, call_test_send(ct));
	KUNIT_EXPECT_TRUE(test, call_test_accepted(ct));
}

/* Lack of memory makes no hole in the window: a number serves once */
static void call_repeated_after_lack_of_memory(struct kunit *test)
{
	const struct failure_case *param = test->param_value;
	struct call_test *ct = test->priv;

	/* Arrange */
	KUNIT_ASSERT_TRUE(test, call_test_fail(ct, param, GSS_S_UNAVAILABLE));
	if (ct->closed)
		KUNIT_ASSERT_EQ(test, 0, call_test_connect(ct));

	/* Act: a Call with the same number */
	call_test_build(ct, RPC_GSS_PROC_DATA);
	KUNIT_ASSERT_TRUE(test, call_test_send(ct));

	/* Assert */
	KUNIT_EXPECT_EQ(test, param->taken, ct->closed);
	KUNIT_EXPECT_EQ(test, !param->taken, call_test_accepted(ct));
}

static const struct failure_case fault_cases[] = {
	{
		.desc		= "header with a bad MIC",
		.service	= RPC_GSS_SVC_NONE,
		.op		= TOY_VERIFY_HEADER,
		.status		= GSS_S_BAD_SIG,
		.auth_stat	= RPCSEC_GSS_CREDPROBLEM,
	},
	{
		.desc		= "header that cannot be checked",
		.service	= RPC_GSS_SVC_NONE,
		.op		= TOY_VERIFY_HEADER,
		.status		= GSS_S_FAILURE,
		.auth_stat	= RPCSEC_GSS_CREDPROBLEM,
	},
	{
		.desc		= "context that has expired",
		.service	= RPC_GSS_SVC_NONE,
		.op		= TOY_VERIFY_HEADER,
		.status		= GSS_S_CONTEXT_EXPIRED,
		.auth_stat	= RPCSEC_GSS_CREDPROBLEM,
	},
	{
		.desc		= "context that expires before the Reply",
		.service	= RPC_GSS_SVC_NONE,
		.op		= TOY_SIGN_VERIFIER,
		.status		= GSS_S_CONTEXT_EXPIRED,
		.auth_stat	= RPCSEC_GSS_CTXPROBLEM,
	},
	{
		.desc		= "verifier that cannot be made",
		.service	= RPC_GSS_SVC_NONE,
		.op		= TOY_SIGN_VERIFIER,
		.status		= GSS_S_FAILURE,
		.auth_stat	= RPCSEC_GSS_CTXPROBLEM,
	},
	{
		.desc		= "arguments with a bad MIC, krb5i",
		.service	= RPC_GSS_SVC_INTEGRITY,
		.op		= TOY_VERIFY_BODY,
		.status		= GSS_S_BAD_SIG,
		.auth_stat	= RPC_AUTH_BADCRED,
	},
	{
		.desc		= "arguments that do not decrypt, krb5p",
		.service	= RPC_GSS_SVC_PRIVACY,
		.op		= TOY_UNWRAP,
		.status		= GSS_S_BAD_SIG,
		.auth_stat	= RPC_AUTH_BADCRED,
	},
	{
		.desc		= "arguments in a defective token, krb5p",
		.service	= RPC_GSS_SVC_PRIVACY,
		.op		= TOY_UNWRAP,
		.status		= GSS_S_DEFECTIVE_TOKEN,
		.auth_stat	= RPC_AUTH_BADCRED,
	},
};

KUNIT_ARRAY_PARAM_DESC(fault, fault_cases, desc);

/* What is wrong with the message or the context is still said so */
static void call_denied_for_its_fault(struct kunit *test)
{
	const struct failure_case *param = test->param_value;
	struct call_test *ct = test->priv;

	KUNIT_ASSERT_TRUE(test, call_test_fail(ct, param, param->status));

	KUNIT_EXPECT_EQ(test, TOY_NOTHING, ct->fail_op);
	KUNIT_EXPECT_FALSE(test, ct->closed);
	KUNIT_EXPECT_EQ(test, param->auth_stat, call_test_auth_stat(ct));
	KUNIT_EXPECT_EQ(test, 0, ct->nr_sights);
}

struct lookup_case {
	const char	*desc;
	const char	*downcall;	/* behind the handle */
	time64_t	lifetime;
	bool		known;
};

static const struct lookup_case lookup_cases[] = {
	{ "valid",	"0 0 0 gss-svc-call-toy \\x00", 600,	true },
	{ "unknown",	NULL },
	{ "negative",	"",				600 },
	{ "expired",	"0 0 0 gss-svc-call-toy \\x00", -10 },
	{ "not complete", "0 0 0 no-such-mechanism \\x00", 600 },
};

KUNIT_ARRAY_PARAM_DESC(lookup, lookup_cases, desc);

/* A second context, which the test's own outlives */
static void call_test_other_handle(struct call_test *ct,
				   const struct lookup_case *param)
{
	struct cache_detail *cd = call_test_cache();
	char mesg[128];
	int len;

	ct->handle = ~ct->handle;
	if (!param->downcall)
		return;
	len = scnprintf(mesg, sizeof(mesg), "\\x%08x %lld %s\n", ct->handle,
			ktime_get_real_seconds() + param->lifetime,
			param->downcall);
	cd->cache_parse(cd, mesg, len);
}

/* Only an entry that is complete and good is a context */
static void call_with_another_handle(struct kunit *test)
{
	const struct lookup_case *param = test->param_value;
	struct call_test *ct = test->priv;
	u32 own = ct->handle;

	/* Arrange */
	ct->service = RPC_GSS_SVC_NONE;
	call_test_other_handle(ct, param);
	call_test_next(ct);

	/* Act */
	call_test_send(ct);

	/* Assert */
	KUNIT_EXPECT_FALSE(test, ct->closed);
	KUNIT_EXPECT_EQ(test, param->known, call_test_accepted(ct));
	KUNIT_EXPECT_EQ(test, param->known ? 0 : RPCSEC_GSS_CREDPROBLEM,
			call_test_auth_stat(ct));
	if (param->known)
		call_test_destroy_context(ct);
	ct->handle = own;
}

#define TEST_FLOOD	500

/* Nobody fills the cache who has no context */
static void call_flood_of_unknown_handles(struct kunit *test)
{
	struct cache_detail *cd = call_test_cache();
	struct call_test *ct = test->priv;
	int entries = cd->entries;
	u32 own = ct->handle;
	unsigned int i;

	/* Act */
	ct->service = RPC_GSS_SVC_NONE;
	for (i = 0; i < TEST_FLOOD; i++) {
		ct->handle = 0x0bad0000 + i;
		call_test_next(ct);
		KUNIT_ASSERT_TRUE(test, call_test_send(ct));
		KUNIT_ASSERT_EQ(test, RPCSEC_GSS_CREDPROBLEM,
				call_test_auth_stat(ct));
	}
	ct->handle = own;

	/* Assert */
	KUNIT_EXPECT_LE(test, cd->entries, entries);
	call_test_next(ct);
	KUNIT_ASSERT_TRUE(test, call_test_send(ct));
	KUNIT_EXPECT_TRUE(test, call_test_accepted(ct));
}

#if IS_ENABLED(CONFIG_FAIL_SUNRPC)

#define TEST_STALL_US	20000u

struct stall_case {
	const char		*desc;
	u32			usecs;
	enum toy_op		fail_op;
	bool			again;	/* with a number that was seen */
	bool			stalled;
};

static const struct stall_case stall_cases[] = {
	{
		.desc		= "not asked for",
	},
	{
		.desc		= "asked for",
		.usecs		= TEST_STALL_US,
		.stalled	= true,
	},
	{
		.desc		= "before the number is refused",
		.usecs		= TEST_STALL_US,
		.again		= true,
		.stalled	= true,
	},
	{
		.desc		= "not before the header is checked",
		.usecs		= TEST_STALL_US,
		.fail_op	= TOY_VERIFY_HEADER,
	},
};

KUNIT_ARRAY_PARAM_DESC(stall, stall_cases, desc);

static void call_test_restore_faults(void *saved)
{
	memcpy(&fail_sunrpc, saved, sizeof(fail_sunrpc));
}

/* One fault, and no other place to take it */
static void call_test_arm_fault(struct kunit *test)
{
	struct fail_sunrpc_attr *saved;
	int ret;

	saved = kunit_kmalloc(test, sizeof(*saved), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, saved);
	memcpy(saved, &fail_sunrpc, sizeof(*saved));
	ret = kunit_add_action_or_reset(test, call_test_restore_faults, saved);
	KUNIT_ASSERT_EQ(test, 0, ret);
	fail_sunrpc.ignore_client_disconnect = true;
	fail_sunrpc.ignore_server_disconnect = true;
	fail_sunrpc.ignore_cache_wait = true;
	fail_sunrpc.attr.verbose = 0;
	fail_sunrpc.attr.interval = 1;
	fail_sunrpc.attr.probability = 100;
	atomic_set(&fail_sunrpc.attr.times, 1);
}

/* A stall comes between the header's MIC and the check of the number */
static void call_stalled(struct kunit *test)
{
	const struct stall_case *param = test->param_value;
	struct call_test *ct = test->priv;
	ktime_t begin;

	/* Arrange */
	ct->service = RPC_GSS_SVC_NONE;
	call_test_next(ct);
	if (param->again) {
		KUNIT_ASSERT_TRUE(test, call_test_send(ct));
		KUNIT_ASSERT_TRUE(test, call_test_accepted(ct));
	}
	call_test_arm_fault(test);
	KUNIT_ASSERT_EQ(test, 0, fail_sunrpc_set_gss_stall(&fail_sunrpc,
							   param->usecs));
	ct->fail_op = param->fail_op;
	ct->fail_status = GSS_S_BAD_SIG;

	/* Act */
	begin = ktime_get();
	KUNIT_ASSERT_TRUE(test, call_test_send(ct));

	/* Assert */
	KUNIT_EXPECT_EQ(test, !param->stalled,
			atomic_read(&fail_sunrpc.attr.times));
	if (param->stalled)
		KUNIT_EXPECT_GE(test, ktime_us_delta(ktime_get(), begin),
				param->usecs);
	KUNIT_EXPECT_EQ(test, param->again, ct->closed);
	KUNIT_EXPECT_EQ(test, !param->again && !param->fail_op,
			call_test_accepted(ct));
}

static void call_stalled_no_longer_than_a_test(struct kunit *test)
{
	u64 max = FAIL_SUNRPC_MAX_STALL_US;

	call_test_arm_fault(test);
	KUNIT_ASSERT_EQ(test, 0, fail_sunrpc_set_gss_stall(&fail_sunrpc, max));

	KUNIT_EXPECT_EQ(test, -EINVAL,
			fail_sunrpc_set_gss_stall(&fail_sunrpc, max + 1));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			fail_sunrpc_set_gss_stall(&fail_sunrpc, 1ULL << 32));
	KUNIT_EXPECT_EQ(test, max, fail_sunrpc.gss_stall_us);
}

#endif /* CONFIG_FAIL_SUNRPC */

static struct kunit_case call_test_cases[] = {
	KUNIT_CASE_PARAM(call_deferred_and_revisited, service_gen_params),
	KUNIT_CASE_PARAM(call_deferred_twice, service_gen_params),
	KUNIT_CASE_PARAM(call_deferred_with_a_bad_body, revisit_gen_params),
	KUNIT_CASE_PARAM(call_with_a_bad_body, receive_gen_params),
	KUNIT_CASE(call_with_an_empty_body),
	KUNIT_CASE_PARAM(call_closed_for_lack_of_memory, memory_gen_params),
	KUNIT_CASE_PARAM(call_repeated_after_lack_of_memory, memory_gen_params),
	KUNIT_CASE_PARAM(call_denied_for_its_fault, fault_gen_params),
	KUNIT_CASE_PARAM(call_with_another_handle, lookup_gen_params),
	KUNIT_CASE(call_flood_of_unknown_handles),
#if IS_ENABLED(CONFIG_FAIL_SUNRPC)
	KUNIT_CASE_PARAM(call_stalled, stall_gen_params),
	KUNIT_CASE(call_stalled_no_longer_than_a_test),
#endif
	{}
};

static struct kunit_suite call_test_suite = {
	.name		= "gss_svc_call",
	.suite_init	= call_test_suite_init,
	.suite_exit	= call_test_suite_exit,
	.init		= call_test_init,
	.exit		= call_test_exit,
	.test_cases	= call_test_cases,
};

kunit_test_suite(call_test_suite);

MODULE_DESCRIPTION("KUnit tests for RPCSEC_GSS Calls on the server");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
