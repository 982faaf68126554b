// SPDX-License-Identifier: GPL-2.0
/*
 * Read and write the headers of RPC records.
 */
#include <stdlib.h>

#include "rpc.h"
#include "xdr.h"

#define LAST_FRAGMENT	0x80000000u
#define LONGEST		(8u << 20)	/* more than any record of NFS */
#define CALL		0
#define REPLY		1
#define NFS_PROGRAM	100003
#define FLAVOR_GSS	6
#define GSS_VERSION	1
#define GSS_DATA	0
#define LONGEST_VERF	400

/**
 * rpc_mark - complete a record
 * @data: where its mark goes
 * @end: of what was written behind it
 *
 * Return: the length of the record with its mark.
 */
size_t rpc_mark(uint8_t *data, const uint8_t *end)
{
	struct writer mark = { .at = data, .left = RPC_MARK };

	put_word(&mark, LAST_FRAGMENT | (end - data - RPC_MARK));
	return end - data;
}

/**
 * rpc_record - the length of the record at the beginning of some bytes
 * @data: bytes of a stream
 * @len: how many
 *
 * Return: its length with the mark, though not all of it need be there; 0 if the bytes do
 * not look like the beginning of a record in a single fragment.
 */
size_t rpc_record(const uint8_t *data, size_t len)
{
	struct reader in = { .at = data, .left = len };
	uint32_t mark = get_word(&in);

	if (!(mark & LAST_FRAGMENT) || (mark & ~LAST_FRAGMENT) > LONGEST)
		return 0;
	return RPC_MARK + (mark & ~LAST_FRAGMENT);
}

/**
 * rpc_read_call - read the header of a Call of NFS with a GSS credential for data
 * @data: the record with its mark
 * @len: how much of it is there
 * @call: filled in; the handle points into @data
 *
 * Return: whether it is one.
 */
bool rpc_read_call(const uint8_t *data, size_t len, struct rpc_call *call)
{
	struct reader in = { .at = data, .left = len };
	bool wanted;

	get_word(&in);
	call->xid = get_word(&in);
	wanted = get_word(&in) == CALL;
	wanted &= get_word(&in) == 2;		/* the version of RPC */
	wanted &= get_word(&in) == NFS_PROGRAM;
	get_word(&in);				/* version, procedure */
	get_word(&in);
	wanted &= get_word(&in) == FLAVOR_GSS;
	get_word(&in);				/* the length of the credential */
	wanted &= get_word(&in) == GSS_VERSION;
	wanted &= get_word(&in) == GSS_DATA;
	call->seqno = get_word(&in);
	get_word(&in);				/* the service */
	call->handle_len = get_word(&in);
	if (!wanted || call->handle_len > RPC_HANDLE)
		return false;
	call->handle = get_bytes(&in, call->handle_len);
	return !in.bad;
}

/**
 * rpc_read_reply - read the header of a Reply
 * @data: the record with its mark
 * @len: how much of it is there
 * @reply: filled in
 *
 * Return: whether it is one.
 */
bool rpc_read_reply(const uint8_t *data, size_t len, struct rpc_reply *reply)
{
	struct reader in = { .at = data, .left = len };
	uint32_t denied, verf;

	get_word(&in);
	reply->xid = get_word(&in);
	if (get_word(&in) != REPLY)
		return false;
	denied = get_word(&in);
	if (in.bad || denied > 1)
		return false;
	reply->denied = denied;
	if (denied) {
		get_word(&in);			/* an authentication error, or a version */
	} else {
		get_word(&in);
		verf = get_word(&in);
		if (verf > LONGEST_VERF || !get_bytes(&in, verf))
			return false;
	}
	reply->status = get_word(&in);
	return !in.bad;
}

static void put_junk(struct writer *out, uint32_t len)
{
	uint8_t *at = put_room(out, len);
	uint32_t i;

	for (i = 0; at && i < len; i++)
		at[i] = rand();
}

/**
 * rpc_write_junk - write a NULL Call of NFSv4 with a random GSS handle and verifier
 * @data: room for RPC_JUNK bytes
 * @xid: of the Call, and its sequence number
 * @handle_len: bytes of the handle, at most RPC_HANDLE
 *
 * Return: the length of the record with its mark.
 */
size_t rpc_write_junk(uint8_t *data, uint32_t xid, uint32_t handle_len)
{
	const uint32_t verf_len = 28;		/* of a MIC token with aes-sha1 */
	struct writer out = { .at = data + RPC_MARK, .left = RPC_JUNK - RPC_MARK };

	put_word(&out, xid);
	put_word(&out, CALL);
	put_word(&out, 2);
	put_word(&out, NFS_PROGRAM);
	put_word(&out, 4);
	put_word(&out, 0);
	put_word(&out, FLAVOR_GSS);
	put_word(&out, 20 + ((handle_len + 3) & ~3u));
	put_word(&out, GSS_VERSION);
	put_word(&out, GSS_DATA);
	put_word(&out, xid);
	put_word(&out, 1);			/* no integrity, no privacy */
	put_word(&out, handle_len);
	put_junk(&out, handle_len);
	put_word(&out, FLAVOR_GSS);
	put_word(&out, verf_len);
	put_junk(&out, verf_len);
	return rpc_mark(data, out.at);
}
