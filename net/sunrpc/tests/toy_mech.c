// SPDX-License-Identifier: GPL-2.0
/*
 * A GSS mechanism for tests, see toy_mech.h
 */

#include <linux/module.h>
#include <linux/sunrpc/gss_api.h>
#include <linux/sunrpc/gss_err.h>
#include <linux/sunrpc/xdr.h>

#include "toy_mech.h"

#define TOY_KEY		0x5a

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

static bool toy_is_unavailable(struct gss_ctx *ctx)
{
	struct toy_ctx *toy = ctx->internal_ctx_id;

	return toy && ++toy->used == toy->unavailable;
}

static u32 toy_get_mic(struct gss_ctx *ctx, struct xdr_buf *message,
		       struct xdr_netobj *mic)
{
	struct toy_ctx *toy = ctx->internal_ctx_id;
	__be32 sum = toy_checksum(message);

	if (toy_is_unavailable(ctx))
		return GSS_S_UNAVAILABLE;
	mic->len = sizeof(sum);
	memcpy(mic->data, &sum, sizeof(sum));
	if (toy && toy->expired)
		return GSS_S_CONTEXT_EXPIRED;
	return GSS_S_COMPLETE;
}

static u32 toy_verify_mic(struct gss_ctx *ctx, struct xdr_buf *message,
			  struct xdr_netobj *mic)
{
	__be32 expected = toy_checksum(message);
	struct toy_ctx *toy = ctx->internal_ctx_id;

	if (toy_is_unavailable(ctx))
		return GSS_S_UNAVAILABLE;
	if (toy && toy->limit && ++toy->verified > toy->limit)
		return GSS_S_FAILURE;
	if (mic->len != sizeof(expected) ||
	    memcmp(mic->data, &expected, sizeof(expected)))
		return GSS_S_BAD_SIG;
	return GSS_S_COMPLETE;
}

static u32 toy_wrap(struct gss_ctx *ctx, int offset, struct xdr_buf *buf,
		    struct page **pages)
{
	u8 *p = buf->head[0].iov_base;

	if (toy_is_unavailable(ctx))
		return GSS_S_UNAVAILABLE;
	for (; offset < buf->len; offset++)
		p[offset] ^= TOY_KEY;
	return GSS_S_COMPLETE;
}

static u32 toy_unwrap(struct gss_ctx *ctx, int offset, int len,
		      struct xdr_buf *buf)
{
	u8 *p = buf->head[0].iov_base;

	if (toy_is_unavailable(ctx))
		return GSS_S_UNAVAILABLE;
	for (; offset < len; offset++)
		p[offset] ^= TOY_KEY;
	return GSS_S_COMPLETE;
}

static void toy_delete_sec_context(void *internal_ctx_id)
{
}

static const struct gss_api_ops toy_ops = {
	.gss_get_mic		= toy_get_mic,
	.gss_verify_mic		= toy_verify_mic,
	.gss_wrap		= toy_wrap,
	.gss_unwrap		= toy_unwrap,
	.gss_delete_sec_context	= toy_delete_sec_context,
};

struct gss_api_mech toy_mech = {
	.gm_name	= "toy",
	.gm_ops		= &toy_ops,
};
EXPORT_SYMBOL_GPL(toy_mech);

/**
 * toy_mic - The toy's MIC
 * @begin: the first word of the message
 * @end: the word behind its last
 *
 * Context: Any.
 *
 * Return: The MIC, one word.
 */
__be32 toy_mic(const __be32 *begin, const __be32 *end)
{
	struct kvec iov = {
		.iov_base	= (void *)begin,
		.iov_len	= (u8 *)end - (u8 *)begin,
	};
	struct xdr_buf buf;

	xdr_buf_from_iov(&iov, &buf);
	return toy_checksum(&buf);
}
EXPORT_SYMBOL_GPL(toy_mic);

/**
 * toy_crypt - The toy's encryption, which is also its decryption
 * @begin: the first word of the message
 * @end: the word behind its last
 *
 * Context: Any.
 */
void toy_crypt(__be32 *begin, const __be32 *end)
{
	u8 *p;

	for (p = (u8 *)begin; p < (u8 *)end; p++)
		*p ^= TOY_KEY;
}
EXPORT_SYMBOL_GPL(toy_crypt);

MODULE_DESCRIPTION("GSS mechanism for KUnit tests");
MODULE_LICENSE("GPL");
