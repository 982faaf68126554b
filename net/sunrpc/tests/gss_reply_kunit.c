// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for matching an RPCSEC_GSS Reply to the transmission of
 * the Call that it answers (RFC 2203 Section 5.3.3)
 *
 * The tests enter through the credential operations that the RPC client
 * uses. The mechanism below them is a toy. It counts the MICs that it is
 * asked to verify, and gives up when it is asked without end.
 */

#include <kunit/test.h>
#include <linux/cred.h>
#include <linux/sunrpc/auth_gss.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/xprt.h>

#include "../auth_gss/auth_gss_internal.h"
#include "toy_mech.h"

#define TEST_RESULT	0x600dcafe
#define TEST_WINDOW	128
/* More numbers than a request remembers */
#define TEST_ENDLESS	(4 * RPC_GSS_SEQNO_ARRAY_SIZE)

struct reply_test {
	struct gss_cl_ctx	ctx;
	struct gss_ctx		gss_ctx;
	struct toy_ctx		toy;
	struct gss_cred		cred;
	struct gss_cl_ctx	new_ctx;
	struct gss_cred		new_cred;
	struct rpc_auth		auth;
	struct rpc_stat		stats;
	struct rpc_clnt		clnt;
	struct rpc_xprt		xprt;
	struct rpc_rqst		rqst;
	struct rpc_task		task;
	struct xdr_stream	xdr;
	__be32			buffer[64];
	u32			result;
	int			send_status;
	u32			send_octets;
};

/* A Call whose results are one word */

static int reply_test_decode(struct rpc_rqst *rqstp, struct xdr_stream *xdr,
			     void *obj)
{
	return xdr_stream_decode_u32(xdr, obj);
}

static const struct rpc_procinfo reply_test_proc = {
	.p_decode	= reply_test_decode,
	.p_name		= "REPLY",
};

/* What tracepoints print */
static const struct rpc_program reply_test_program = {
	.name		= "gss_reply_kunit",
};

static int reply_test_send(struct rpc_rqst *rqst)
{
	struct reply_test *rt = container_of(rqst, struct reply_test, rqst);

	rqst->rq_bytes_sent = rt->send_octets;
	return rt->send_status;
}

static const struct rpc_xprt_ops reply_test_xprt_ops = {
	.send_request	= reply_test_send,
};

/* A context that is up, and a credential that never goes */

static void reply_test_init_cred(struct reply_test *rt, struct gss_cred *cred,
				 struct gss_cl_ctx *ctx)
{
	struct auth_cred acred = { .cred = current_cred() };

	refcount_set(&ctx->count, 1);
	ctx->gc_gss_ctx = &rt->gss_ctx;
	ctx->gc_win = TEST_WINDOW;
	ctx->gc_seq = 1;
	ctx->gc_expiry = jiffies + 3600 * HZ;
	spin_lock_init(&ctx->gc_seq_lock);

	rpcauth_init_cred(&cred->gc_base, &acred, &rt->auth, &gss_credops);
	refcount_set(&cred->gc_base.cr_count, 2);
	__set_bit(RPCAUTH_CRED_UPTODATE, &cred->gc_base.cr_flags);
	cred->gc_service = RPC_GSS_SVC_INTEGRITY;
	RCU_INIT_POINTER(cred->gc_ctx, ctx);
}

/* An authenticator whose next lookup makes rt->new_cred */

static int reply_test_hash_cred(struct auth_cred *acred, unsigned int hashbits)
{
	return 0;
}

static struct rpc_cred *reply_test_create_cred(struct rpc_auth *auth,
					       struct auth_cred *acred,
					       int flags, gfp_t gfp)
{
	struct reply_test *rt = container_of(auth, struct reply_test, auth);

	reply_test_init_cred(rt, &rt->new_cred, &rt->new_ctx);
	return &rt->new_cred.gc_base;
}

static const struct rpc_authops reply_test_authops = {
	.au_name	= "gss_reply_kunit",
	.hash_cred	= reply_test_hash_cred,
	.crcreate	= reply_test_create_cred,
};

static int reply_test_init(struct kunit *test)
{
	struct reply_test *rt;

	rt = kunit_kzalloc(test, sizeof(*rt), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rt);
	test->priv = rt;

	rt->gss_ctx.mech_type = &toy_mech;
	rt->gss_ctx.internal_ctx_id = &rt->toy;
	rt->toy.limit = TEST_ENDLESS;

	rt->auth.au_ops = &reply_test_authops;
	KUNIT_ASSERT_EQ(test, 0, rpcauth_init_credcache(&rt->auth));
	reply_test_init_cred(rt, &rt->cred, &rt->ctx);

	rt->clnt.cl_stats = &rt->stats;
	rt->clnt.cl_program = &reply_test_program;

	spin_lock_init(&rt->xprt.queue_lock);
	spin_lock_init(&rt->xprt.transport_lock);
	INIT_LIST_HEAD(&rt->xprt.xmit_queue);
	rpc_init_wait_queue(&rt->xprt.sending, "gss_reply_kunit");
	rt->xprt.ops = &reply_test_xprt_ops;

	rt->rqst.rq_xprt = &rt->xprt;
	rt->rqst.rq_task = &rt->task;
	rt->rqst.rq_cred = &rt->cred.gc_base;

	rt->task.tk_rqstp = &rt->rqst;
	rt->task.tk_client = &rt->clnt;
	rt->task.tk_msg.rpc_proc = &reply_test_proc;
	rt->task.tk_msg.rpc_resp = &rt->result;
	return 0;
}

static void reply_test_exit(struct kunit *test)
{
	struct reply_test *rt = test->priv;

	if (!rt)
		return;
	rpc_destroy_wait_queue(&rt->xprt.sending);
	rpcauth_destroy_credcache(&rt->auth);
	put_cred(rt->cred.gc_base.cr_cred);
	put_cred(rt->new_cred.gc_base.cr_cred);
}

/*
 * Encode the Call with @seqno and transmit it. The transport's answer is
 * in rt->send_status and rt->send_octets.
 */
static void reply_test_transmit(struct reply_test *rt, u32 seqno)
{
	rt->ctx.gc_seq = max(rt->ctx.gc_seq, seqno + 1);
	xprt_rqst_add_seqno(&rt->rqst, seqno);
	xprt_request_enqueue_transmit(&rt->task);
	xprt_transmit(&rt->task);

	/* Off the queue again, as a task is that has to be encoded anew */
	if (test_and_clear_bit(RPC_TASK_NEED_XMIT, &rt->task.tk_runstate)) {
		list_del_init(&rt->rqst.rq_xmit);
		atomic_long_dec(&rt->xprt.xmit_queuelen);
	}
}

static void reply_test_transmit_all(struct reply_test *rt, const u32 *seqnos,
				    unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		reply_test_transmit(rt, seqnos[i]);
}

static __be32 *reply_test_build_integ(__be32 *p, u32 seqno)
{
	__be32 *databody;

	*p++ = cpu_to_be32(2 * XDR_UNIT);
	databody = p;
	*p++ = cpu_to_be32(seqno);
	*p++ = cpu_to_be32(TEST_RESULT);
	*p = cpu_to_be32(XDR_UNIT);
	p[1] = toy_mic(databody, p);
	return p + 2;
}

static __be32 *reply_test_build_priv(__be32 *p, u32 seqno)
{
	/* Longer than the shortest token of Kerberos, which unwrap insists on */
	unsigned int words = 8;

	*p++ = cpu_to_be32(words * XDR_UNIT);
	memset(p, 0, words * XDR_UNIT);
	p[0] = cpu_to_be32(seqno);
	p[1] = cpu_to_be32(TEST_RESULT);
	toy_crypt(p, p + words);
	return p + words;
}

/* A Reply whose verifier and body are those of the given transmissions */
static void reply_test_build(struct reply_test *rt, u32 verf_seqno,
			     u32 body_seqno)
{
	__be32 seqno = cpu_to_be32(verf_seqno);
	struct xdr_buf *buf = &rt->rqst.rq_rcv_buf;
	__be32 *p = rt->buffer;

	*p++ = rpc_auth_gss;
	*p++ = cpu_to_be32(XDR_UNIT);
	*p++ = toy_mic(&seqno, &seqno + 1);

	switch (rt->cred.gc_service) {
	case RPC_GSS_SVC_INTEGRITY:
		p = reply_test_build_integ(p, body_seqno);
		break;
	case RPC_GSS_SVC_PRIVACY:
		p = reply_test_build_priv(p, body_seqno);
		break;
	default:
		*p++ = cpu_to_be32(TEST_RESULT);
	}

	xdr_buf_init(buf, rt->buffer, (u8 *)p - (u8 *)rt->buffer);
	buf->head[0].iov_len = buf->buflen;
	buf->len = buf->buflen;
	xdr_init_decode(&rt->xdr, buf, rt->buffer, &rt->rqst);
	rt->result = 0;
	rt->toy.verified = 0;
}

static int reply_test_validate(struct reply_test *rt)
{
	return gss_credops.crvalidate(&rt->task, &rt->xdr);
}

static int reply_test_unwrap(struct reply_test *rt)
{
	return gss_credops.crunwrap_resp(&rt->task, &rt->xdr);
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

/* The Call went out as 10, 11 and 12: a Reply to any of them is good */
static void reply_to_each_transmission(struct kunit *test)
{
	const struct service_case *param = test->param_value;
	static const u32 seqnos[] = { 10, 11, 12 };
	struct reply_test *rt = test->priv;
	unsigned int i;

	rt->cred.gc_service = param->service;
	reply_test_transmit_all(rt, seqnos, ARRAY_SIZE(seqnos));

	for (i = 0; i < ARRAY_SIZE(seqnos); i++) {
		reply_test_build(rt, seqnos[i], seqnos[i]);

		KUNIT_EXPECT_EQ_MSG(test, 0, reply_test_validate(rt),
				    "verifier of %u", seqnos[i]);
		KUNIT_EXPECT_EQ_MSG(test, 0, reply_test_unwrap(rt),
				    "body of %u", seqnos[i]);
		KUNIT_EXPECT_EQ(test, TEST_RESULT, rt->result);
	}
}

/* A number that fell out of the cache is as unknown as one never sent */
static void reply_to_a_forgotten_transmission(struct kunit *test)
{
	const struct service_case *param = test->param_value;
	static const u32 seqnos[] = { 9, 10, 11, 12 };
	struct reply_test *rt = test->priv;

	rt->cred.gc_service = param->service;
	reply_test_transmit_all(rt, seqnos, ARRAY_SIZE(seqnos));

	reply_test_build(rt, 9, 9);
	KUNIT_EXPECT_EQ(test, -EACCES, reply_test_validate(rt));

	reply_test_build(rt, 13, 13);
	KUNIT_EXPECT_EQ(test, -EACCES, reply_test_validate(rt));
}

/* Verifier and body have to be of one transmission */
static void reply_spliced_from_two_transmissions(struct kunit *test)
{
	const struct service_case *param = test->param_value;
	static const u32 seqnos[] = { 10, 11, 12 };
	struct reply_test *rt = test->priv;
	unsigned int i, j;

	/* Without integrity protection there is no number in the body */
	if (param->service == RPC_GSS_SVC_NONE)
		kunit_skip(test, "no number in the body");

	rt->cred.gc_service = param->service;
	reply_test_transmit_all(rt, seqnos, ARRAY_SIZE(seqnos));

	for (i = 0; i < ARRAY_SIZE(seqnos); i++) {
		for (j = 0; j < ARRAY_SIZE(seqnos); j++) {
			if (i == j)
				continue;
			reply_test_build(rt, seqnos[i], seqnos[j]);
			KUNIT_ASSERT_EQ(test, 0, reply_test_validate(rt));
			KUNIT_EXPECT_EQ_MSG(test, -EIO, reply_test_unwrap(rt),
					    "verifier of %u, body of %u",
					    seqnos[i], seqnos[j]);
			KUNIT_EXPECT_EQ(test, 0, rt->result);
		}
	}
}

/* A bad verifier is tried against each number once, no more */
static void reply_with_a_bad_verifier(struct kunit *test)
{
	static const u32 seqnos[] = { 10, 11, 12 };
	struct reply_test *rt = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(seqnos); i++) {
		reply_test_transmit(rt, seqnos[i]);
		reply_test_build(rt, 12, 12);
		rt->buffer[2] ^= cpu_to_be32(1);

		KUNIT_EXPECT_EQ(test, -EACCES, reply_test_validate(rt));
		KUNIT_EXPECT_EQ(test, i + 1, rt->toy.verified);
	}
}

struct unsent_case {
	const char	*desc;
	int		send_status;
	u32		seq_xmit;	/* highest number sent on the context */
};

static const struct unsent_case unsent_cases[] = {
	{ "behind the window",		0,		1000 },
	{ "connection lost",		-ENOTCONN,	0 },
	{ "no room on the socket",	-EAGAIN,	0 },
};

KUNIT_ARRAY_PARAM_DESC(unsent, unsent_cases, desc);

/* Encodings that never left do not make the client forget one that did */
static void reply_after_unsent_encodings(struct kunit *test)
{
	const struct unsent_case *param = test->param_value;
	struct reply_test *rt = test->priv;
	u32 seqno;

	reply_test_transmit(rt, 10);

	rt->send_status = param->send_status;
	rt->ctx.gc_seq_xmit = max(rt->ctx.gc_seq_xmit, param->seq_xmit);
	rt->ctx.gc_seq = max(rt->ctx.gc_seq, param->seq_xmit + 1);
	for (seqno = 11; seqno <= 11 + RPC_GSS_SEQNO_ARRAY_SIZE; seqno++)
		reply_test_transmit(rt, seqno);

	reply_test_build(rt, 10, 10);
	KUNIT_EXPECT_EQ(test, 0, reply_test_validate(rt));
	KUNIT_EXPECT_EQ(test, 0, reply_test_unwrap(rt));
	KUNIT_EXPECT_EQ(test, TEST_RESULT, rt->result);
}

/* A number of which an octet left may be answered: the rest may follow */
static void reply_after_a_partial_transmission(struct kunit *test)
{
	struct reply_test *rt = test->priv;

	rt->send_status = -EAGAIN;
	rt->send_octets = 1;
	reply_test_transmit(rt, 10);

	rt->send_status = 0;
	reply_test_transmit(rt, 11);

	reply_test_build(rt, 10, 10);
	KUNIT_EXPECT_EQ(test, 0, reply_test_validate(rt));
	KUNIT_EXPECT_EQ(test, 0, reply_test_unwrap(rt));
}

/* With another credential, the numbers of the old context mean nothing */
static void reply_after_a_new_context(struct kunit *test)
{
	const struct service_case *param = test->param_value;
	static const u32 seqnos[] = { 10, 11 };
	struct reply_test *rt = test->priv;

	rt->cred.gc_service = param->service;
	reply_test_transmit_all(rt, seqnos, ARRAY_SIZE(seqnos));

	clear_bit(RPCAUTH_CRED_UPTODATE, &rt->cred.gc_base.cr_flags);
	KUNIT_ASSERT_EQ(test, 0, gss_credops.crrefresh(&rt->task));
	KUNIT_ASSERT_PTR_EQ(test, &rt->new_cred.gc_base, rt->rqst.rq_cred);
	rt->new_cred.gc_service = param->service;
	rt->new_ctx.gc_seq = 6;
	reply_test_transmit(rt, 5);

	reply_test_build(rt, 10, 10);
	KUNIT_EXPECT_EQ(test, -EACCES, reply_test_validate(rt));
	KUNIT_EXPECT_EQ(test, 1, rt->toy.verified);

	reply_test_build(rt, 5, 5);
	KUNIT_EXPECT_EQ(test, 0, reply_test_validate(rt));
	KUNIT_EXPECT_EQ(test, 0, reply_test_unwrap(rt));
	KUNIT_EXPECT_EQ(test, TEST_RESULT, rt->result);
}

static struct kunit_case reply_test_cases[] = {
	KUNIT_CASE_PARAM(reply_to_each_transmission, service_gen_params),
	KUNIT_CASE_PARAM(reply_to_a_forgotten_transmission, service_gen_params),
	KUNIT_CASE_PARAM(reply_spliced_from_two_transmissions,
			 service_gen_params),
	KUNIT_CASE(reply_with_a_bad_verifier),
	KUNIT_CASE_PARAM(reply_after_unsent_encodings, unsent_gen_params),
	KUNIT_CASE(reply_after_a_partial_transmission),
	KUNIT_CASE_PARAM(reply_after_a_new_context, service_gen_params),
	{}
};

static struct kunit_suite reply_test_suite = {
	.name		= "gss_reply",
	.init		= reply_test_init,
	.exit		= reply_test_exit,
	.test_cases	= reply_test_cases,
};

kunit_test_suite(reply_test_suite);

MODULE_DESCRIPTION("KUnit tests for matching RPCSEC_GSS Replies to Calls");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
