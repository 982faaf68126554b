// SPDX-License-Identifier: GPL-2.0
/*
 * Accept contexts and make checksums with the GSS-API.
 */
#include <gssapi/gssapi.h>
#include <string.h>

#include "mech.h"
#include "peer.h"

static gss_buffer_desc buffer(const void *data, size_t len)
{
	/* The library does not write to what it is handed. */
	return (gss_buffer_desc){ .length = len, .value = (void *)data };
}

/**
 * mech_accept - go on with setting up a context
 * @context: of the mechanism; NULL at the beginning
 * @token: from the client
 * @len: its length
 * @answer: filled in
 */
void mech_accept(void **context, const uint8_t *token, size_t len, struct mech_answer *answer)
{
	gss_ctx_id_t id = *context ? *context : GSS_C_NO_CONTEXT;
	gss_buffer_desc in = buffer(token, len), out = GSS_C_EMPTY_BUFFER;
	OM_uint32 ignored, minor = 0;

	answer->major = gss_accept_sec_context(&minor, &id, GSS_C_NO_CREDENTIAL, &in,
					       GSS_C_NO_CHANNEL_BINDINGS, NULL, NULL, &out,
					       NULL, NULL, NULL);
	answer->minor = minor;
	answer->complete = answer->major == GSS_S_COMPLETE;
	if (out.length > sizeof(answer->token))
		bail_out("a token of %zu bytes", out.length);
	answer->len = out.length;
	if (out.length)
		memcpy(answer->token, out.value, out.length);
	gss_release_buffer(&ignored, &out);
	*context = id;
}

/**
 * mech_verify - check a checksum
 * @context: of the mechanism
 * @data: what it was made of
 * @len: length of @data
 * @mic: the checksum
 * @mic_len: its length
 *
 * Return: whether it is right. Its own order does not matter: RPC has numbers of its own.
 */
bool mech_verify(void *context, const uint8_t *data, size_t len, const uint8_t *mic, size_t mic_len)
{
	gss_buffer_desc text = buffer(data, len), token = buffer(mic, mic_len);
	OM_uint32 minor;

	return !GSS_ERROR(gss_verify_mic(&minor, context, &text, &token, NULL));
}

/**
 * mech_sign - write a checksum with its length
 * @context: of the mechanism
 * @data: what to make it of
 * @len: length of @data
 * @out: where to
 */
void mech_sign(void *context, const void *data, size_t len, struct writer *out)
{
	gss_buffer_desc text = buffer(data, len), mic = GSS_C_EMPTY_BUFFER;
	OM_uint32 minor, major;

	major = gss_get_mic(&minor, context, GSS_C_QOP_DEFAULT, &text, &mic);
	if (GSS_ERROR(major) || mic.length > MECH_MIC)
		bail_out("no checksum: major %#x, minor %#x", major, minor);
	put_opaque(out, mic.value, mic.length);
	gss_release_buffer(&minor, &mic);
}

/**
 * mech_close - end a context
 * @context: of the mechanism, or NULL; NULL afterwards
 */
void mech_close(void **context)
{
	gss_ctx_id_t id = *context;
	OM_uint32 minor;

	if (id)
		gss_delete_sec_context(&minor, &id, GSS_C_NO_BUFFER);
	*context = NULL;
}
