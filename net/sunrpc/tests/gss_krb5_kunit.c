// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the major status of the Kerberos V GSS mechanism
 *
 * Both peers have to tell a token that is bad from one that could not be
 * looked at for lack of memory. A message of very many pages takes care
 * of the latter: no scatterlist is that long. Its pages are not there.
 */

#include <kunit/test.h>
#include <linux/slab.h>
#include <linux/sunrpc/gss_api.h>
#include <linux/sunrpc/gss_err.h>
#include <linux/sunrpc/gss_krb5.h>
#include <linux/sunrpc/xdr.h>

#define TEST_KEYLEN	32
#define TEST_FLAG_INITIATOR	1
/* Octets of pages whose scatterlist no kmalloc() gives */
#define TEST_HUGE	((u64)(KMALLOC_MAX_SIZE / sizeof(struct scatterlist) + \
			       XDR_BUF_TO_SG_NENTS) << PAGE_SHIFT)

/* Format of a context that gssd and svcgssd export */
struct krb5_test_export {
	u32			flags;
	u32			endtime;
	u64			seq_send;
	u32			enctype;
	u8			key[TEST_KEYLEN];
} __packed;

struct krb5_test {
	struct gss_api_mech	*mech;
	struct gss_ctx		client;
	struct gss_ctx		server;
	struct xdr_buf		buf;
	struct xdr_netobj	mic;
};

struct enctype_case {
	const char	*desc;
	u32		enctype;
	size_t		keylen;
};

static const struct enctype_case enctype_cases[] = {
	{ "aes128-cts-hmac-sha1-96",		17, 16 },
	{ "aes256-cts-hmac-sha1-96",		18, 32 },
	{ "aes128-cts-hmac-sha256-128",		19, 16 },
	{ "aes256-cts-hmac-sha384-192",		20, 32 },
};

KUNIT_ARRAY_PARAM_DESC(enctype, enctype_cases, desc);

static int krb5_test_import(struct krb5_test *kt, struct gss_ctx *ctx,
			    u32 flags, const struct enctype_case *param)
{
	struct krb5_test_export export = {
		.flags		= flags,
		.endtime	= U32_MAX,
		.enctype	= param->enctype,
	};

	memset(export.key, 0x2a, sizeof(export.key));
	ctx->mech_type = kt->mech;
	return kt->mech->gm_ops->gss_import_sec_context(&export,
			offsetof(struct krb5_test_export, key) + param->keylen,
			ctx, NULL, GFP_KERNEL);
}

static void krb5_test_drop(struct gss_ctx *ctx)
{
	if (ctx->internal_ctx_id)
		ctx->mech_type->gm_ops->gss_delete_sec_context(ctx->internal_ctx_id);
}

/* A message in the head, with room for what a mechanism puts around it */
static void krb5_test_reset(struct krb5_test *kt)
{
	struct kvec *head = kt->buf.head;
	void *base = head->iov_base;

	memset(&kt->buf, 0, sizeof(kt->buf));
	memset(base, 0x11, PAGE_SIZE);
	head->iov_base = base;
	head->iov_len = 64;
	kt->buf.len = 64;
	kt->buf.buflen = PAGE_SIZE;
	kt->mic.len = 0;
}

static void krb5_test_grow(struct kunit *test)
{
	struct krb5_test *kt = test->priv;

	if (TEST_HUGE > S32_MAX)
		kunit_skip(test, "no xdr_buf is that long");
	kt->buf.page_len = TEST_HUGE;
	kt->buf.buflen += TEST_HUGE;
	kt->buf.len += TEST_HUGE;
}

static int krb5_test_init(struct kunit *test)
{
	const struct enctype_case *param = test->param_value;
	struct krb5_test *kt;

	kt = kunit_kzalloc(test, sizeof(*kt), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, kt);
	kt->buf.head[0].iov_base = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, kt->buf.head[0].iov_base);
	kt->mic.data = kunit_kzalloc(test, GSS_KRB5_TOK_HDR_LEN +
				     GSS_KRB5_MAX_CKSUM_LEN, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, kt->mic.data);

	kt->mech = gss_mech_get_by_name("krb5");
	if (!kt->mech)
		kunit_skip(test, "no Kerberos V mechanism");
	test->priv = kt;
	if (krb5_test_import(kt, &kt->client, TEST_FLAG_INITIATOR, param) ||
	    krb5_test_import(kt, &kt->server, 0, param))
		kunit_skip(test, "no such encryption type");
	krb5_test_reset(kt);
	return 0;
}

static void krb5_test_exit(struct kunit *test)
{
	struct krb5_test *kt = test->priv;

	if (!kt)
		return;
	krb5_test_drop(&kt->client);
	krb5_test_drop(&kt->server);
	gss_mech_put(kt->mech);
}

static u32 krb5_test_sign(struct krb5_test *kt)
{
	return kt->mech->gm_ops->gss_get_mic(&kt->client, &kt->buf, &kt->mic);
}

static u32 krb5_test_verify(struct krb5_test *kt)
{
	return kt->mech->gm_ops->gss_verify_mic(&kt->server, &kt->buf,
						&kt->mic);
}

static u32 krb5_test_wrap(struct krb5_test *kt)
{
	return kt->mech->gm_ops->gss_wrap(&kt->client, 0, &kt->buf,
					  kt->buf.pages);
}

static u32 krb5_test_unwrap(struct krb5_test *kt)
{
	return kt->mech->gm_ops->gss_unwrap(&kt->server, 0, kt->buf.len,
					    &kt->buf);
}

static void krb5_mic_for_lack_of_memory(struct kunit *test)
{
	struct krb5_test *kt = test->priv;

	KUNIT_ASSERT_EQ(test, GSS_S_COMPLETE, krb5_test_sign(kt));
	KUNIT_ASSERT_EQ(test, GSS_S_COMPLETE, krb5_test_verify(kt));
	krb5_test_grow(test);

	kunit_warning_suppress(test) {
		KUNIT_EXPECT_EQ(test, GSS_S_UNAVAILABLE, krb5_test_verify(kt));
		KUNIT_EXPECT_EQ(test, GSS_S_UNAVAILABLE, krb5_test_sign(kt));
	}
}

static void krb5_wrap_for_lack_of_memory(struct kunit *test)
{
	struct krb5_test *kt = test->priv;

	krb5_test_grow(test);

	kunit_warning_suppress(test)
		KUNIT_EXPECT_EQ(test, GSS_S_UNAVAILABLE, krb5_test_wrap(kt));
}

static void krb5_unwrap_for_lack_of_memory(struct kunit *test)
{
	struct krb5_test *kt = test->priv;

	KUNIT_ASSERT_EQ(test, GSS_S_COMPLETE, krb5_test_wrap(kt));
	krb5_test_grow(test);

	kunit_warning_suppress(test)
		KUNIT_EXPECT_EQ(test, GSS_S_UNAVAILABLE, krb5_test_unwrap(kt));
}

/* A token that is bad is not excused */
static void krb5_bad_tokens(struct kunit *test)
{
	struct krb5_test *kt = test->priv;
	u8 *message = kt->buf.head[0].iov_base;

	KUNIT_ASSERT_EQ(test, GSS_S_COMPLETE, krb5_test_sign(kt));
	message[0] ^= 1;
	KUNIT_EXPECT_EQ(test, GSS_S_BAD_SIG, krb5_test_verify(kt));
	message[0] ^= 1;
	kt->mic.len--;
	KUNIT_EXPECT_EQ(test, GSS_S_DEFECTIVE_TOKEN, krb5_test_verify(kt));

	krb5_test_reset(kt);
	KUNIT_ASSERT_EQ(test, GSS_S_COMPLETE, krb5_test_wrap(kt));
	message[2 * GSS_KRB5_TOK_HDR_LEN] ^= 1;
	KUNIT_EXPECT_EQ(test, GSS_S_BAD_SIG, krb5_test_unwrap(kt));
}

static struct kunit_case krb5_test_cases[] = {
	KUNIT_CASE_PARAM(krb5_mic_for_lack_of_memory, enctype_gen_params),
	KUNIT_CASE_PARAM(krb5_wrap_for_lack_of_memory, enctype_gen_params),
	KUNIT_CASE_PARAM(krb5_unwrap_for_lack_of_memory, enctype_gen_params),
	KUNIT_CASE_PARAM(krb5_bad_tokens, enctype_gen_params),
	{}
};

static struct kunit_suite krb5_test_suite = {
	.name		= "gss_krb5",
	.init		= krb5_test_init,
	.exit		= krb5_test_exit,
	.test_cases	= krb5_test_cases,
};

kunit_test_suite(krb5_test_suite);

MODULE_DESCRIPTION("KUnit tests for the Kerberos V GSS mechanism");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
