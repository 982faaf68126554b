// SPDX-License-Identifier: GPL-2.0
/*
 * Read the header of a Call; begin a Reply.
 */
#include "call.h"

#define RPC_CALL	0
#define RPC_REPLY	1
#define RPC_VERSION	2
#define MSG_ACCEPTED	0
#define MSG_DENIED	1
#define AUTH_ERROR	1

/**
 * call_read - read the header of a Call
 * @data: a record without its mark
 * @len: its length
 * @call: filled in; points into @data
 *
 * Return: whether it is a Call.
 */
bool call_read(const uint8_t *data, size_t len, struct call *call)
{
	struct reader in = { .at = data, .left = len };
	uint32_t cred_len;
	bool wanted;

	call->xid = get_word(&in);
	wanted = get_word(&in) == RPC_CALL;
	wanted &= get_word(&in) == RPC_VERSION;
	call->program = get_word(&in);
	call->version = get_word(&in);
	call->procedure = get_word(&in);
	call->flavor = get_word(&in);
	call->cred.at = get_opaque(&in, &cred_len, AUTH_MOST);
	call->cred.left = cred_len;
	call->cred.bad = false;
	call->header = data;
	call->header_len = in.at - data;
	call->verf_flavor = get_word(&in);
	call->verf = get_opaque(&in, &call->verf_len, AUTH_MOST);
	call->args = in;
	return wanted && !in.bad;
}

/**
 * reply_begin - write a Reply up to its verifier, which follows
 * @out: where to
 * @call: that it answers
 */
void reply_begin(struct writer *out, const struct call *call)
{
	put_word(out, call->xid);
	put_word(out, RPC_REPLY);
	put_word(out, MSG_ACCEPTED);
}

/**
 * reply_deny - write a Reply that refuses the credential
 * @out: where to
 * @call: that it answers
 * @why: what is wrong with it
 */
void reply_deny(struct writer *out, const struct call *call, enum auth_stat why)
{
	put_word(out, call->xid);
	put_word(out, RPC_REPLY);
	put_word(out, MSG_DENIED);
	put_word(out, AUTH_ERROR);
	put_word(out, why);
}
