// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the life of an RPCSEC_GSS context on the client
 *
 * The tests build what gssd writes when it has established a context, and
 * let the client import it. The mechanism is a toy: its token is the
 * number of seconds after which the context ends, and an empty token
 * stands for a mechanism that does not name an end.
 */

#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/sunrpc/auth_gss.h>
#include <linux/sunrpc/gss_api.h>
#include <linux/timekeeping.h>

#include "../auth_gss/auth_gss_internal.h"

#define TEST_WINDOW	128
#define TEST_NO_END	TIME64_MAX
#define TEST_HOUR	3600
#define TEST_DAY	(24 * TEST_HOUR)
/* Seconds that a busy machine may lose between two lines of a test */
#define TEST_SLACK	10

struct context_test {
	struct gss_cl_ctx	ctx;
	struct gss_cred		cred;
	unsigned long		started;	/* jiffies */
	u8			message[128];
	size_t			len;
};

/* The toy mechanism */

static int toy_import(const void *token, size_t len, struct gss_ctx *gss_ctx,
		      time64_t *endtime, gfp_t gfp)
{
	time64_t left;

	if (!len)
		return 0;
	if (len != sizeof(left))
		return -EINVAL;
	memcpy(&left, token, sizeof(left));
	if (endtime)
		*endtime = ktime_get_real_seconds() + left;
	return 0;
}

static const struct gss_api_ops toy_ops = {
	.gss_import_sec_context	= toy_import,
};

static struct gss_api_mech toy_mech = {
	.gm_name	= "toy",
	.gm_owner	= THIS_MODULE,
	.gm_ops		= &toy_ops,
};

static int context_test_init(struct kunit *test)
{
	struct context_test *ct;

	ct = kunit_kzalloc(test, sizeof(*ct), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ct);
	RCU_INIT_POINTER(ct->cred.gc_ctx, &ct->ctx);
	test->priv = ct;
	return 0;
}

static void context_test_exit(struct kunit *test)
{
	struct context_test *ct = test->priv;

	if (!ct)
		return;
	if (ct->ctx.gc_gss_ctx) {
		gss_mech_put(ct->ctx.gc_gss_ctx->mech_type);
		kfree(ct->ctx.gc_gss_ctx);
	}
	kfree(ct->ctx.gc_wire_ctx.data);
}

static void context_test_put(struct context_test *ct, const void *data,
			     u32 len)
{
	memcpy(ct->message + ct->len, data, len);
	ct->len += len;
}

static void context_test_put_opaque(struct context_test *ct, const void *data,
				    u32 len)
{
	context_test_put(ct, &len, sizeof(len));
	context_test_put(ct, data, len);
}

/* Import a context to which gssd gives @timeout, and the mechanism @token */
static int context_test_fill(struct context_test *ct, u32 timeout,
			     const void *token, u32 len)
{
	static const char handle[] = "handle";
	u32 window = TEST_WINDOW;
	const void *p;

	ct->len = 0;
	context_test_put(ct, &timeout, sizeof(timeout));
	context_test_put(ct, &window, sizeof(window));
	context_test_put_opaque(ct, handle, sizeof(handle));
	context_test_put_opaque(ct, token, len);

	ct->started = jiffies;
	p = gss_fill_context(ct->message, ct->message + ct->len, &ct->ctx,
			     &toy_mech);
	return PTR_ERR_OR_ZERO(p);
}

/* The same, for a context that ends in @left seconds */
static int context_test_fill_left(struct context_test *ct, u32 timeout,
				  time64_t left)
{
	return context_test_fill(ct, timeout, &left,
				 left == TEST_NO_END ? 0 : sizeof(left));
}

struct lifetime_case {
	const char	*desc;
	u32		timeout;	/* from gssd, seconds */
	time64_t	left;		/* to the mechanism's end, seconds */
	u32		expected;	/* seconds */
};

static const struct lifetime_case lifetime_cases[] = {
	{ "both at once",			TEST_DAY, TEST_DAY, TEST_DAY },
	{ "gssd first",				300, TEST_DAY, 300 },
	{ "mechanism first",			TEST_DAY, 300, 300 },
	{ "gssd does not know",			0, TEST_DAY, TEST_HOUR },
	{ "gssd does not know, mechanism first", 0, 300, 300 },
	{ "mechanism names no end",		300, TEST_NO_END, 300 },
	{ "neither names an end",		0, TEST_NO_END, TEST_HOUR },
	{ "mechanism ends in 100 years",	TEST_DAY,
	  100LL * 365 * TEST_DAY, TEST_DAY },
	{ "gssd's largest number",		U32_MAX, 300, 300 },
};

KUNIT_ARRAY_PARAM_DESC(lifetime, lifetime_cases, desc);

/* What comes first ends the context */
static void context_ends_with_what_comes_first(struct kunit *test)
{
	const struct lifetime_case *param = test->param_value;
	struct context_test *ct = test->priv;
	unsigned long left;

	KUNIT_ASSERT_EQ(test, 0, context_test_fill_left(ct, param->timeout,
							param->left));

	left = (ct->ctx.gc_expiry - ct->started) / HZ;
	KUNIT_EXPECT_LE(test, left, (unsigned long)param->expected + TEST_SLACK);
	KUNIT_EXPECT_GE(test, left, (unsigned long)param->expected - TEST_SLACK);
}

/* A number of seconds that is too large for jiffies is not a small one */
static void context_without_an_end_is_not_over(struct kunit *test)
{
	struct context_test *ct = test->priv;

	KUNIT_ASSERT_EQ(test, 0, context_test_fill_left(ct, U32_MAX,
							TEST_NO_END));

	KUNIT_EXPECT_TRUE(test, time_after(ct->ctx.gc_expiry,
					   jiffies + TEST_DAY * HZ));
	KUNIT_EXPECT_EQ(test, 0, gss_credops.crkey_timeout(&ct->cred.gc_base));
}

struct ended_case {
	const char	*desc;
	u32		timeout;	/* from gssd, seconds */
	time64_t	left;		/* to the mechanism's end, seconds */
};

static const struct ended_case ended_cases[] = {
	{ "this second",		TEST_HOUR, 0 },
	{ "a second ago",		TEST_HOUR, -1 },
	{ "a day ago",			TEST_HOUR, -TEST_DAY },
	{ "a second ago, gssd does not know", 0, -1 },
};

KUNIT_ARRAY_PARAM_DESC(ended, ended_cases, desc);

/* A context that ended already is reported like an expired ticket */
static void context_that_ended_is_refused(struct kunit *test)
{
	const struct ended_case *param = test->param_value;
	struct context_test *ct = test->priv;

	KUNIT_EXPECT_EQ(test, -EKEYEXPIRED,
			context_test_fill_left(ct, param->timeout,
					       param->left));
}

/* A token that cannot be imported is an error, whatever the time */
static void context_that_cannot_be_imported(struct kunit *test)
{
	struct context_test *ct = test->priv;

	KUNIT_EXPECT_EQ(test, -EINVAL,
			context_test_fill(ct, TEST_HOUR, "toy", 3));
}

/* Dirty data has to be written back before the mechanism ends the context */
static void write_back_before_the_mechanism_ends(struct kunit *test)
{
	struct context_test *ct = test->priv;

	KUNIT_ASSERT_EQ(test, 0, context_test_fill_left(ct, TEST_DAY, 100));

	KUNIT_EXPECT_EQ(test, -EACCES,
			gss_credops.crkey_timeout(&ct->cred.gc_base));
}

static struct kunit_case context_test_cases[] = {
	KUNIT_CASE_PARAM(context_ends_with_what_comes_first,
			 lifetime_gen_params),
	KUNIT_CASE(context_without_an_end_is_not_over),
	KUNIT_CASE_PARAM(context_that_ended_is_refused, ended_gen_params),
	KUNIT_CASE(context_that_cannot_be_imported),
	KUNIT_CASE(write_back_before_the_mechanism_ends),
	{}
};

static struct kunit_suite context_test_suite = {
	.name		= "gss_context",
	.init		= context_test_init,
	.exit		= context_test_exit,
	.test_cases	= context_test_cases,
};

kunit_test_suite(context_test_suite);

MODULE_DESCRIPTION("KUnit tests for the life of RPCSEC_GSS client contexts");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
