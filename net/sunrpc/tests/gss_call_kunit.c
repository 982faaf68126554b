// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the Calls of RPCSEC_GSS credentials, as the server sees
 * them (RFC 2203 Sections 5.3 and 5.4)
 *
 * Calls go through the whole RPC client and out of a transport whose
 * server is the test, which looks at what left.
 */

#include <kunit/test.h>
#include <linux/cred.h>
#include <linux/sunrpc/auth_gss.h>
#include <linux/sunrpc/clnt.h>

#include "../auth_gss/auth_gss_internal.h"
#include "fake_xprt.h"
#include "toy_mech.h"

/* A word that no header contains */
#define TEST_SECRET	0x5ec3e7ed
#define TEST_WINDOW	128
#define TEST_WORDS	64
/* Enough for the header of a Call or of a Reply, with its toy verifier */
#define TEST_SLACK	24

/* What the server saw of one Call */
struct seen_call {
	u32			proc;		/* of the program */
	u32			gss_proc;	/* of the credential */
	u32			service;
	unsigned int		body;		/* offset in words */
	unsigned int		words;
	__be32			octets[TEST_WORDS];
};

struct gss_call_test {
	struct fake_server	server;
	struct gss_auth		auth;
	struct gss_cl_ctx	*ctx;
	struct toy_ctx		toy;
	struct seen_call	seen[4];
	unsigned int		calls;
};

/* The server */

static __be32 *test_encode_result(__be32 *p, u32 service, u32 seqno, u32 result)
{
	__be32 *begin;

	switch (service) {
	case RPC_GSS_SVC_INTEGRITY:
		*p++ = cpu_to_be32(2 * XDR_UNIT);
		begin = p;
		*p++ = cpu_to_be32(seqno);
		*p++ = cpu_to_be32(result);
		*p = cpu_to_be32(XDR_UNIT);
		p[1] = toy_mic(begin, p);
		return p + 2;
	case RPC_GSS_SVC_PRIVACY:
		/* Longer than the shortest token of Kerberos */
		*p++ = cpu_to_be32(8 * XDR_UNIT);
		memset(p, 0, 8 * XDR_UNIT);
		p[0] = cpu_to_be32(seqno);
		p[1] = cpu_to_be32(result);
		toy_crypt(p, p + 8);
		return p + 8;
	default:
		*p++ = cpu_to_be32(result);
		return p;
	}
}

static void test_reply(struct rpc_rqst *rqst, const struct seen_call *call,
		       __be32 seqno)
{
	__be32 reply[TEST_WORDS], *p = reply;

	*p++ = rpc_reply;
	*p++ = rpc_msg_accepted;
	*p++ = rpc_auth_gss;
	*p++ = cpu_to_be32(XDR_UNIT);
	*p++ = toy_mic(&seqno, &seqno + 1);
	*p++ = rpc_success;
	if (call->proc == FAKE_PROC_ECHO)
		p = test_encode_result(p, call->service, be32_to_cpu(seqno),
				       TEST_SECRET);
	fake_server_reply(rqst, reply, p - reply);
}

/* Take the Call apart as far as RFC 2203 Section 5.3.1 describes it */
static int test_send(struct fake_server *server, struct rpc_rqst *rqst)
{
	struct gss_call_test *gt = container_of(server, struct gss_call_test,
						server);
	struct kvec *head = &rqst->rq_snd_buf.head[0];
	struct seen_call *call;
	const __be32 *p;

	if (gt->calls == ARRAY_SIZE(gt->seen) ||
	    head->iov_len > sizeof(call->octets))
		return -EIO;
	call = &gt->seen[gt->calls++];
	call->words = XDR_QUADLEN(head->iov_len);
	memcpy(call->octets, head->iov_base, head->iov_len);

	p = call->octets;
	call->proc = be32_to_cpu(p[5]);
	call->gss_proc = be32_to_cpu(p[9]);
	call->service = be32_to_cpu(p[11]);
	p += 8 + XDR_QUADLEN(be32_to_cpu(p[7]));	/* credential */
	p += 2 + XDR_QUADLEN(be32_to_cpu(p[1]));	/* verifier */
	call->body = p - call->octets;

	test_reply(rqst, call, call->octets[10]);
	return 0;
}

/* Does the word stand anywhere in what left the machine? */
static bool test_is_legible(const struct seen_call *call, u32 word)
{
	unsigned int i;

	for (i = 0; i < call->words; i++)
		if (call->octets[i] == cpu_to_be32(word))
			return true;
	return false;
}

/* Is the body a valid rpc_gss_integ_data (RFC 2203 Section 5.3.2.2)? */
static bool test_has_integrity(const struct seen_call *call)
{
	const __be32 *p = call->octets + call->body;
	unsigned int words = call->words - call->body;

	return words == 5 && be32_to_cpu(p[0]) == 2 * XDR_UNIT &&
	       p[1] == call->octets[10] && be32_to_cpu(p[3]) == XDR_UNIT &&
	       p[4] == toy_mic(p + 1, p + 3);
}

/* Contexts and credentials */

static struct gss_cl_ctx *test_context(struct kunit *test)
{
	struct gss_cl_ctx *ctx;

	/* Both are freed by the code under test */
	ctx = kzalloc_obj(*ctx);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	refcount_set(&ctx->count, 1);
	spin_lock_init(&ctx->gc_seq_lock);
	ctx->gc_seq = 1;
	ctx->gc_win = TEST_WINDOW;
	ctx->gc_expiry = jiffies + 3600 * HZ;
	ctx->gc_gss_ctx = kzalloc_obj(*ctx->gc_gss_ctx);
	KUNIT_ASSERT_NOT_NULL(test, ctx->gc_gss_ctx);
	ctx->gc_gss_ctx->mech_type = &toy_mech;
	return ctx;
}

/* A credential as a lookup makes it: without a context */
static struct rpc_cred *test_cred(struct kunit *test, enum rpc_gss_svc service)
{
	struct gss_call_test *gt = test->priv;
	struct auth_cred acred = { .cred = current_cred() };
	struct gss_cred *cred;

	cred = kzalloc_obj(*cred);
	KUNIT_ASSERT_NOT_NULL(test, cred);
	rpcauth_init_cred(&cred->gc_base, &acred, &gt->auth.rpc_auth,
			  &gss_credops);
	cred->gc_base.cr_flags = 1UL << RPCAUTH_CRED_NEW;
	cred->gc_service = service;
	kref_get(&gt->auth.kref);
	return &cred->gc_base;
}

static int gss_call_test_init(struct kunit *test)
{
	struct gss_call_test *gt;

	gt = kunit_kzalloc(test, sizeof(*gt), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, gt);
	test->priv = gt;

	gt->server.send = test_send;
	KUNIT_ASSERT_EQ(test, 0, fake_server_start(&gt->server));

	kref_init(&gt->auth.kref);
	gt->auth.client = gt->server.clnt;
	gt->auth.rpc_auth.au_cslack = TEST_SLACK;
	gt->auth.rpc_auth.au_rslack = TEST_SLACK;
	gt->auth.rpc_auth.au_verfsize = 3;
	gt->auth.rpc_auth.au_ralign = 3;
	refcount_set(&gt->auth.rpc_auth.au_count, 1);
	gt->ctx = test_context(test);
	return 0;
}

static void gss_call_test_exit(struct kunit *test)
{
	struct gss_call_test *gt = test->priv;

	if (!gt)
		return;
	fake_server_stop(&gt->server);
	if (gt->ctx && refcount_dec_and_test(&gt->ctx->count)) {
		kfree(gt->ctx->gc_gss_ctx);
		kfree(gt->ctx);
	}
	/* Credentials and contexts go by RCU, with pointers into this test */
	rcu_barrier();
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

/* Whatever became of the context, a Call is protected or does not leave */
static void call_is_protected_after_destruction(struct kunit *test)
{
	const struct service_case *param = test->param_value;
	struct gss_call_test *gt = test->priv;
	const struct seen_call *call;
	struct rpc_cred *one, *other;
	u32 result = 0;
	int status;

	/* Two credentials wait for one upcall, the first goes at once */
	one = test_cred(test, param->service);
	other = test_cred(test, param->service);
	gss_cred_set_ctx(one, gt->ctx);
	put_rpccred(one);
	fake_server_flush();
	KUNIT_ASSERT_EQ(test, 1, gt->calls);
	KUNIT_ASSERT_EQ(test, RPC_GSS_PROC_DESTROY, gt->seen[0].gss_proc);

	gss_cred_set_ctx(other, gt->ctx);
	status = fake_server_call(&gt->server, other, TEST_SECRET, &result,
				  RPC_TASK_SOFT);

	KUNIT_EXPECT_EQ(test, 0, status);
	KUNIT_EXPECT_EQ(test, TEST_SECRET, result);
	KUNIT_ASSERT_EQ(test, 2, gt->calls);
	call = &gt->seen[1];
	KUNIT_EXPECT_EQ(test, RPC_GSS_PROC_DATA, call->gss_proc);
	KUNIT_EXPECT_EQ(test, param->service, call->service);
	if (param->service == RPC_GSS_SVC_INTEGRITY)
		KUNIT_EXPECT_TRUE(test, test_has_integrity(call));
	if (param->service == RPC_GSS_SVC_PRIVACY)
		KUNIT_EXPECT_FALSE(test, test_is_legible(call, TEST_SECRET));

	put_rpccred(other);
	fake_server_flush();
}

/* The context lives as long as a credential uses it */
static void context_goes_with_its_last_credential(struct kunit *test)
{
	const struct service_case *param = test->param_value;
	struct gss_call_test *gt = test->priv;
	struct rpc_cred *one, *other;
	u32 result = 0;

	one = test_cred(test, param->service);
	other = test_cred(test, param->service);
	gss_cred_set_ctx(one, gt->ctx);
	gss_cred_set_ctx(other, gt->ctx);

	put_rpccred(one);
	fake_server_flush();
	KUNIT_EXPECT_EQ(test, 0, gt->calls);

	KUNIT_EXPECT_EQ(test, 0,
			fake_server_call(&gt->server, other, TEST_SECRET,
					 &result, RPC_TASK_SOFT));
	KUNIT_EXPECT_EQ(test, 1, gt->calls);
	KUNIT_EXPECT_EQ(test, RPC_GSS_PROC_DATA, gt->seen[0].gss_proc);

	put_rpccred(other);
	fake_server_flush();
	KUNIT_ASSERT_EQ(test, 2, gt->calls);
	KUNIT_EXPECT_EQ(test, RPC_GSS_PROC_DESTROY, gt->seen[1].gss_proc);
	KUNIT_EXPECT_EQ(test, 0, gt->seen[1].proc);
	/* A destruction request has no arguments, and nothing is wrapped */
	KUNIT_EXPECT_EQ(test, gt->seen[1].words, gt->seen[1].body);
}

/* A credential that is out of date leaves the context to the others */
static void stale_credential_goes_silently(struct kunit *test)
{
	struct gss_call_test *gt = test->priv;
	struct rpc_cred *one, *other;

	one = test_cred(test, RPC_GSS_SVC_NONE);
	other = test_cred(test, RPC_GSS_SVC_NONE);
	gss_cred_set_ctx(one, gt->ctx);
	gss_cred_set_ctx(other, gt->ctx);

	clear_bit(RPCAUTH_CRED_UPTODATE, &one->cr_flags);
	put_rpccred(one);
	fake_server_flush();
	KUNIT_EXPECT_EQ(test, 0, gt->calls);

	put_rpccred(other);
	fake_server_flush();
	KUNIT_EXPECT_EQ(test, 1, gt->calls);
}

/* Nothing can be sent on an expired context, and nothing need wait for it */
static void expired_context_goes_silently(struct kunit *test)
{
	struct gss_call_test *gt = test->priv;
	struct rpc_cred *cred;

	cred = test_cred(test, RPC_GSS_SVC_NONE);
	gss_cred_set_ctx(cred, gt->ctx);
	gt->ctx->gc_gss_ctx->internal_ctx_id = &gt->toy;
	gt->toy.expired = true;

	put_rpccred(cred);
	fake_server_flush();
	KUNIT_EXPECT_EQ(test, 0, gt->calls);
	KUNIT_EXPECT_TRUE(test, list_empty(&gt->server.clnt->cl_tasks));
}

struct memory_case {
	const char		*desc;
	enum rpc_gss_svc	service;
	unsigned int		unavailable;
};

static const struct memory_case memory_cases[] = {
	{ "krb5, MIC of the header",	RPC_GSS_SVC_NONE,	1 },
	{ "krb5, MIC of the Reply",	RPC_GSS_SVC_NONE,	2 },
	{ "krb5i, MIC of the header",	RPC_GSS_SVC_INTEGRITY,	1 },
	{ "krb5i, MIC of the body",	RPC_GSS_SVC_INTEGRITY,	2 },
	{ "krb5i, MIC of the Reply",	RPC_GSS_SVC_INTEGRITY,	3 },
	{ "krb5p, MIC of the header",	RPC_GSS_SVC_PRIVACY,	1 },
	{ "krb5p, encryption",		RPC_GSS_SVC_PRIVACY,	2 },
	{ "krb5p, MIC of the Reply",	RPC_GSS_SVC_PRIVACY,	3 },
};

KUNIT_ARRAY_PARAM_DESC(memory, memory_cases, desc);

/* For lack of memory a Call is late, it neither fails nor goes twice */
static void call_outlasts_a_lack_of_memory(struct kunit *test)
{
	const struct memory_case *param = test->param_value;
	struct gss_call_test *gt = test->priv;
	struct rpc_cred *cred;
	u32 result = 0;
	int status;

	cred = test_cred(test, param->service);
	gss_cred_set_ctx(cred, gt->ctx);
	gt->ctx->gc_gss_ctx->internal_ctx_id = &gt->toy;
	gt->toy.unavailable = param->unavailable;

	status = fake_server_call(&gt->server, cred, TEST_SECRET, &result, 0);

	KUNIT_EXPECT_EQ(test, 0, status);
	KUNIT_EXPECT_EQ(test, TEST_SECRET, result);
	KUNIT_EXPECT_EQ(test, 1, gt->calls);

	put_rpccred(cred);
	fake_server_flush();
}

static struct kunit_case gss_call_test_cases[] = {
	KUNIT_CASE_PARAM(call_is_protected_after_destruction,
			 service_gen_params),
	KUNIT_CASE_PARAM(context_goes_with_its_last_credential,
			 service_gen_params),
	KUNIT_CASE(stale_credential_goes_silently),
	KUNIT_CASE(expired_context_goes_silently),
	KUNIT_CASE_PARAM(call_outlasts_a_lack_of_memory, memory_gen_params),
	{}
};

static struct kunit_suite gss_call_test_suite = {
	.name		= "gss_call",
	.init		= gss_call_test_init,
	.exit		= gss_call_test_exit,
	.test_cases	= gss_call_test_cases,
};

kunit_test_suite(gss_call_test_suite);

MODULE_DESCRIPTION("KUnit tests for the Calls of RPCSEC_GSS credentials");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
