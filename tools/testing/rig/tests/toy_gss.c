// SPDX-License-Identifier: GPL-2.0
/*
 * A toy in the place of the GSS-API's library, for programs that are tested without a KDC.
 *
 * The token "one" makes a context at once; "two" needs "last" after it. Every other token is
 * refused. A checksum is what toy_gss.py says it is.
 */
#include <gssapi/gssapi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int is(gss_buffer_t buffer, const char *text)
{
	return buffer->length == strlen(text) && !memcmp(buffer->value, text, buffer->length);
}

static OM_uint32 give(gss_buffer_t out, const void *data, size_t len, OM_uint32 major)
{
	out->value = malloc(len);
	out->length = len;
	memcpy(out->value, data, len);
	return major;
}

OM_uint32 gss_accept_sec_context(OM_uint32 *minor, gss_ctx_id_t *context, gss_cred_id_t cred,
				 gss_buffer_t in, gss_channel_bindings_t bindings,
				 gss_name_t *name, gss_OID *mech, gss_buffer_t out,
				 OM_uint32 *flags, OM_uint32 *time, gss_cred_id_t *delegated)
{
	(void)cred, (void)bindings, (void)name, (void)mech, (void)flags, (void)time;
	(void)delegated;
	*minor = 7;
	if (!*context && !is(in, "one") && !is(in, "two"))
		return GSS_S_DEFECTIVE_TOKEN;
	if (*context && !is(in, "last"))
		return GSS_S_DEFECTIVE_TOKEN;
	if (!*context)
		*context = malloc(1);
	if (is(in, "two"))
		return give(out, "more", 4, GSS_S_CONTINUE_NEEDED);
	return give(out, "done", 4, GSS_S_COMPLETE);
}

static uint32_t sum(gss_buffer_t text)
{
	const uint8_t *at = text->value;
	uint32_t found = 0;
	size_t i;

	for (i = 0; i < text->length; i++)
		found += at[i] * (uint32_t)(i + 1);
	return found;
}

static void make(gss_buffer_t text, uint8_t mic[9])
{
	uint32_t number = sum(text);

	memcpy(mic, "check", 5);
	mic[5] = number >> 24;
	mic[6] = number >> 16;
	mic[7] = number >> 8;
	mic[8] = number;
}

OM_uint32 gss_get_mic(OM_uint32 *minor, gss_ctx_id_t context, gss_qop_t qop, gss_buffer_t text,
		      gss_buffer_t out)
{
	uint8_t mic[9];

	(void)context, (void)qop;
	*minor = 0;
	make(text, mic);
	return give(out, mic, sizeof(mic), GSS_S_COMPLETE);
}

OM_uint32 gss_verify_mic(OM_uint32 *minor, gss_ctx_id_t context, gss_buffer_t text,
			 gss_buffer_t token, gss_qop_t *qop)
{
	uint8_t mic[9];

	(void)context, (void)qop;
	*minor = 0;
	make(text, mic);
	return token->length == sizeof(mic) && !memcmp(token->value, mic, sizeof(mic)) ?
		GSS_S_COMPLETE : GSS_S_BAD_SIG;
}

OM_uint32 gss_delete_sec_context(OM_uint32 *minor, gss_ctx_id_t *context, gss_buffer_t out)
{
	(void)out;
	*minor = 0;
	free(*context);
	*context = GSS_C_NO_CONTEXT;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_release_buffer(OM_uint32 *minor, gss_buffer_t buffer)
{
	*minor = 0;
	free(buffer->value);
	buffer->value = NULL;
	buffer->length = 0;
	return GSS_S_COMPLETE;
}
