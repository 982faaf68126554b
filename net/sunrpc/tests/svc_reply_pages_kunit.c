// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the ownership of an RPC Reply's pages
 *
 * A transport may still be sending a Reply when the thread that built it
 * goes on to its next one. So once the thread has released its reply
 * pages, none of the pages that it gave to xpo_sendto may be left in
 * rq_respages, where the next Reply would overwrite it.
 *
 * The tests drive svc_process() with a program that encodes a payload
 * and an authentication flavor that appends a checksum the way
 * svcauth_gss_wrap_integ() does: after the program's encoder is done.
 */

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svcauth.h>
#include <linux/sunrpc/svc_xprt.h>

#define TEST_PROGRAM	0x20000042
/* Nothing else in the kernel registers this flavor */
#define TEST_FLAVOR	RPC_AUTH_KRB
/* A krb5 MIC with a 96-bit checksum: 16 octets of header, 12 of checksum */
#define TEST_MIC_LEN	28
#define TEST_MAXPAGES	8UL

struct reply_case {
	const char		*desc;
	size_t			payload;	/* octets, a multiple of XDR_UNIT */
	bool			in_pages;	/* payload begins in the page list */
	bool			settles;	/* encoder updates rq_next_page */
	bool			checksum;	/* flavor appends a checksum */
	size_t			truncate;	/* octets cut off again */
	unsigned int		ahead;		/* pages replaced beyond the stream */
	bool			own_array;	/* stream ends in other pages */
};

struct reply_test {
	const struct reply_case	*param;
	struct svc_rqst		*rqstp;
	struct page		*other;		/* an array outside rq_respages */
	bool			registered;
	struct page		*sent[TEST_MAXPAGES + 2];
	unsigned int		nr_sent;
	size_t			sent_len;
};

static bool reply_test_is_sent(struct reply_test *rt, struct page *page)
{
	unsigned int i;

	for (i = 0; i < rt->nr_sent; i++)
		if (rt->sent[i] == page)
			return true;
	return false;
}

/* Hold on to a page as a transport does until the peer has it all */
static void reply_test_hold(struct reply_test *rt, struct page *page)
{
	if (reply_test_is_sent(rt, page))
		return;
	get_page(page);
	rt->sent[rt->nr_sent++] = page;
}

static int reply_test_sendto(struct svc_rqst *rqstp)
{
	struct reply_test *rt = rqstp->rq_private;
	struct xdr_buf *res = &rqstp->rq_res;
	unsigned int i, last;

	reply_test_hold(rt, virt_to_page(res->head[0].iov_base));
	if (res->tail[0].iov_len)
		reply_test_hold(rt, virt_to_page(res->tail[0].iov_base));
	if (res->page_len) {
		last = (res->page_base + res->page_len - 1) >> PAGE_SHIFT;
		for (i = res->page_base >> PAGE_SHIFT; i <= last; i++)
			reply_test_hold(rt, res->pages[i]);
	}
	rt->sent_len = res->len;
	return res->len;
}

static const struct svc_xprt_ops reply_test_xprt_ops = {
	.xpo_sendto	= reply_test_sendto,
};

static struct svc_program reply_test_program;

static enum svc_auth_status reply_test_accept(struct svc_rqst *rqstp)
{
	struct reply_test *rt = rqstp->rq_private;
	__be32 *p;

	/* Not ours: a service that runs beside the test */
	if (rqstp->rq_server->sv_programs != &reply_test_program)
		return SVC_DENIED;

	/* Call: credential length, verifier flavor, verifier length */
	if (!xdr_inline_decode(&rqstp->rq_arg_stream, 3 * XDR_UNIT))
		return SVC_GARBAGE;

	/* Reply: an empty verifier */
	p = xdr_reserve_space(&rqstp->rq_res_stream, 2 * XDR_UNIT);
	if (!p)
		return SVC_GARBAGE;
	*p++ = xdr_zero;
	*p = xdr_zero;
	if (!svcxdr_set_accept_stat(rqstp))
		return SVC_GARBAGE;
	if (rt->param->checksum)
		svcxdr_set_auth_slack(rqstp, RPC_MAX_AUTH_SIZE);
	return SVC_OK;
}

static int reply_test_release(struct svc_rqst *rqstp)
{
	struct xdr_stream *xdr = &rqstp->rq_res_stream;
	struct reply_test *rt = rqstp->rq_private;
	u8 mic[TEST_MIC_LEN];

	if (!rt->param->checksum)
		return 0;
	memset(mic, 0xa5, sizeof(mic));
	if (xdr_stream_encode_opaque(xdr, mic, sizeof(mic)) < 0)
		return -EINVAL;
	xdr_commit_encode(xdr);
	return 0;
}

static struct auth_ops reply_test_auth_ops = {
	.name		= "reply-pages-test",
	.owner		= THIS_MODULE,
	.flavour	= TEST_FLAVOR,
	.accept		= reply_test_accept,
	.release	= reply_test_release,
};

static enum svc_auth_status reply_test_authenticate(struct svc_rqst *rqstp)
{
	return SVC_OK;
}

static int reply_test_encode_payload(struct xdr_stream *xdr,
				     const struct reply_case *param)
{
	size_t left;

	if (param->in_pages)
		return xdr_reserve_space_vec(xdr, param->payload);

	/* Small items, which walk out of the head one by one */
	for (left = param->payload; left; left -= XDR_UNIT)
		if (xdr_stream_encode_u32(xdr, left) < 0)
			return -EMSGSIZE;
	xdr_commit_encode(xdr);
	return 0;
}

/* Put a page that belongs to somebody else into the Reply, as splice does */
static void reply_test_replace_page(struct reply_test *rt)
{
	struct page *page = alloc_page(GFP_KERNEL);

	if (!page)
		return;
	if (svc_rqst_replace_page(rt->rqstp, page))
		reply_test_hold(rt, page);
	put_page(page);
}

static int reply_test_dispatch(struct svc_rqst *rqstp)
{
	struct xdr_stream *xdr = &rqstp->rq_res_stream;
	struct reply_test *rt = rqstp->rq_private;
	unsigned int i;

	if (reply_test_encode_payload(xdr, rt->param))
		return 0;
	if (rt->param->truncate)
		xdr_truncate_encode(xdr, xdr->buf->len - rt->param->truncate);
	if (rt->param->settles)
		rqstp->rq_next_page = xdr->page_ptr + 1;
	for (i = 0; i < rt->param->ahead; i++)
		reply_test_replace_page(rt);
	if (rt->param->own_array)
		xdr->page_ptr = &rt->other;
	return 1;
}

static __be32 reply_test_func(struct svc_rqst *rqstp)
{
	return rpc_success;
}

static bool reply_test_encode(struct svc_rqst *rqstp, struct xdr_stream *xdr)
{
	return true;
}

static const struct svc_procedure reply_test_proc = {
	.pc_func	= reply_test_func,
	.pc_encode	= reply_test_encode,
	.pc_name	= "REPLY",
};

static __be32 reply_test_init_request(struct svc_rqst *rqstp,
				      const struct svc_program *progp,
				      struct svc_process_info *process)
{
	rqstp->rq_procinfo = &reply_test_proc;
	process->dispatch = reply_test_dispatch;
	return rpc_success;
}

static struct svc_program reply_test_program = {
	.pg_prog		= TEST_PROGRAM,
	.pg_name		= "reply-pages-test",
	.pg_authenticate	= reply_test_authenticate,
	.pg_init_request	= reply_test_init_request,
};

static void reply_test_build_call(struct svc_rqst *rqstp)
{
	struct kvec *head = rqstp->rq_arg.head;
	__be32 *p = head->iov_base;

	*p++ = cpu_to_be32(1);			/* xid */
	*p++ = rpc_call;
	*p++ = cpu_to_be32(RPC_VERSION);
	*p++ = cpu_to_be32(TEST_PROGRAM);
	*p++ = cpu_to_be32(1);			/* version */
	*p++ = cpu_to_be32(1);			/* procedure */
	*p++ = cpu_to_be32(TEST_FLAVOR);
	*p++ = xdr_zero;			/* credential body */
	*p++ = xdr_zero;			/* verifier flavor */
	*p++ = xdr_zero;			/* verifier body */
	head->iov_len = (u8 *)p - (u8 *)head->iov_base;
	rqstp->rq_arg.len = head->iov_len;
}

static struct page *reply_test_alloc_page(struct kunit *test)
{
	struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);

	KUNIT_ASSERT_NOT_NULL(test, page);
	return page;
}

static int reply_test_init(struct kunit *test)
{
	struct svc_rqst *rqstp;
	struct reply_test *rt;
	unsigned long i;

	rt = kunit_kzalloc(test, sizeof(*rt), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rt);
	test->priv = rt;

	rqstp = kunit_kzalloc(test, sizeof(*rqstp), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rqstp);
	rt->rqstp = rqstp;
	rqstp->rq_private = rt;

	rqstp->rq_server = kunit_kzalloc(test, sizeof(*rqstp->rq_server),
					 GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rqstp->rq_server);
	rqstp->rq_server->sv_programs = &reply_test_program;
	rqstp->rq_server->sv_nprogs = 1;

	rqstp->rq_xprt = kunit_kzalloc(test, sizeof(*rqstp->rq_xprt),
				       GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rqstp->rq_xprt);
	rqstp->rq_xprt->xpt_ops = &reply_test_xprt_ops;
	rqstp->rq_xprt->xpt_server = rqstp->rq_server;

	rqstp->rq_arg.head[0].iov_base = kunit_kzalloc(test, 128, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rqstp->rq_arg.head[0].iov_base);

	rqstp->rq_respages = kunit_kcalloc(test, TEST_MAXPAGES + 1,
					   sizeof(struct page *), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rqstp->rq_respages);
	rqstp->rq_maxpages = TEST_MAXPAGES;
	rqstp->rq_page_end = rqstp->rq_respages + TEST_MAXPAGES;
	for (i = 0; i < TEST_MAXPAGES; i++)
		rqstp->rq_respages[i] = reply_test_alloc_page(test);
	folio_batch_init(&rqstp->rq_fbatch);
	rqstp->rq_scratch_folio = page_folio(reply_test_alloc_page(test));

	KUNIT_ASSERT_EQ(test, 0, svc_auth_register(TEST_FLAVOR,
						   &reply_test_auth_ops));
	rt->registered = true;
	return 0;
}

static void reply_test_exit(struct kunit *test)
{
	struct reply_test *rt = test->priv;
	struct svc_rqst *rqstp;
	unsigned long i;

	if (!rt || !rt->rqstp)
		return;
	if (rt->registered)
		svc_auth_unregister(TEST_FLAVOR);

	rqstp = rt->rqstp;
	for (i = 0; rqstp->rq_respages && i < TEST_MAXPAGES; i++)
		if (rqstp->rq_respages[i])
			put_page(rqstp->rq_respages[i]);
	for (i = 0; i < rt->nr_sent; i++)
		put_page(rt->sent[i]);
	if (rqstp->rq_scratch_folio)
		folio_put(rqstp->rq_scratch_folio);
}

static const struct reply_case reply_cases[] = {
	{
		.desc		= "results end well before a page boundary",
		.payload	= 2 * PAGE_SIZE - 256,
		.in_pages	= true,
		.settles	= true,
		.checksum	= true,
	},
	{
		.desc		= "results end on a page boundary, no checksum",
		.payload	= 2 * PAGE_SIZE,
		.in_pages	= true,
		.settles	= true,
	},
	{
		.desc		= "checksum lands in the next page",
		.payload	= 2 * PAGE_SIZE,
		.in_pages	= true,
		.settles	= true,
		.checksum	= true,
	},
	{
		.desc		= "checksum lands in the next page after one page",
		.payload	= PAGE_SIZE,
		.in_pages	= true,
		.settles	= true,
		.checksum	= true,
	},
	{
		.desc		= "checksum straddles a page boundary",
		.payload	= 2 * PAGE_SIZE - 8,
		.in_pages	= true,
		.settles	= true,
		.checksum	= true,
	},
	{
		.desc		= "checksum begins with the last word of a page",
		.payload	= 3 * PAGE_SIZE - XDR_UNIT,
		.in_pages	= true,
		.settles	= true,
		.checksum	= true,
	},
	{
		.desc		= "checksum lands in the last page of the array",
		.payload	= (TEST_MAXPAGES - 2) * PAGE_SIZE,
		.in_pages	= true,
		.settles	= true,
		.checksum	= true,
	},
	{
		.desc		= "results fit the head",
		.payload	= 512,
		.settles	= true,
		.checksum	= true,
	},
	{
		.desc		= "checksum spills from a full head",
		.payload	= PAGE_SIZE - RPC_MAX_AUTH_SIZE - 7 * XDR_UNIT,
		.settles	= true,
		.checksum	= true,
	},
	{
		.desc		= "encoder spills from the head without accounting",
		.payload	= 3 * PAGE_SIZE,
	},
	{
		.desc		= "unaccounted spill with a checksum behind it",
		.payload	= 3 * PAGE_SIZE,
		.checksum	= true,
	},
	{
		.desc		= "results cut back to a page boundary",
		.payload	= 4 * PAGE_SIZE,
		.in_pages	= true,
		.settles	= true,
		.checksum	= true,
		.truncate	= 2 * PAGE_SIZE,
	},
	{
		.desc		= "pages replaced beyond a Reply that was cut short",
		.payload	= 4 * PAGE_SIZE,
		.in_pages	= true,
		.settles	= true,
		.truncate	= 4 * PAGE_SIZE,
		.ahead		= 3,
	},
	{
		.desc		= "stream ends in a page array of its own",
		.payload	= 512,
		.settles	= true,
		.own_array	= true,
	},
};

KUNIT_ARRAY_PARAM_DESC(reply, reply_cases, desc);

static void reply_test_no_page_is_reused(struct kunit *test)
{
	struct reply_test *rt = test->priv;
	struct svc_rqst *rqstp = rt->rqstp;
	unsigned long i;

	/* Arrange */
	rt->param = test->param_value;
	reply_test_build_call(rqstp);

	/* Act */
	svc_process(rqstp);
	svc_rqst_release_pages(rqstp);

	/* Assert */
	KUNIT_ASSERT_GT(test, rt->nr_sent, 0);
	KUNIT_EXPECT_GE(test, rt->sent_len,
			rt->param->payload - rt->param->truncate);
	KUNIT_EXPECT_TRUE(test, rqstp->rq_next_page <= rqstp->rq_page_end);
	if (rt->param->own_array)
		KUNIT_EXPECT_PTR_EQ(test, rqstp->rq_next_page,
				    rqstp->rq_respages + 1);
	for (i = 0; i < TEST_MAXPAGES; i++)
		KUNIT_EXPECT_FALSE_MSG(test,
				       reply_test_is_sent(rt, rqstp->rq_respages[i]),
				       "page %lu of the Reply stays with the thread", i);
}

static struct kunit_case reply_test_cases[] = {
	KUNIT_CASE_PARAM(reply_test_no_page_is_reused, reply_gen_params),
	{}
};

static struct kunit_suite reply_test_suite = {
	.name		= "svc_reply_pages",
	.init		= reply_test_init,
	.exit		= reply_test_exit,
	.test_cases	= reply_test_cases,
};

kunit_test_suite(reply_test_suite);

MODULE_DESCRIPTION("KUnit tests for the ownership of an RPC Reply's pages");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
