// SPDX-License-Identifier: GPL-2.0
/*
 * Read and write the headers of RPC records.
 */
#include <stdlib.h>
#include <string.h>

#include "rpc.h"

#define LAST_FRAGMENT	0x80000000u
#define LONGEST		(8u << 20)	/* more than any record of NFS */
#define CALL		0
#define REPLY		1
#define NFS_PROGRAM	100003
#define FLAVOR_GSS	6
#define GSS_VERSION	1
#define GSS_DATA	0
#define LONGEST_VERF	400

/* What is left to read of a record. */
struct reader {
	const uint8_t	*at;
	size_t		left;
	bool		bad;
};

static uint32_t get(struct reader *in)
{
	uint32_t word;

	if (in->left < 4) {
		in->bad = true;
		return 0;
	}
	word = rpc_word(in->at);
	in->at += 4;
	in->left -= 4;
	return word;
}

static const uint8_t *get_bytes(struct reader *in, uint32_t len)
{
	const uint8_t *bytes = in->at;
	size_t padded = (len + 3ul) & ~3ul;

	if (in->bad || in->left < padded) {
		in->bad = true;
		return NULL;
	}
	in->at += padded;
	in->left -= padded;
	return bytes;
}

/**
 * rpc_word - a word in network order
 * @at: four bytes
 *
 * Return: the word.
 */
uint32_t rpc_word(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
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
	uint32_t mark;

	if (len < RPC_MARK)
		return 0;
	mark = rpc_word(data);
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

	get(&in);
	call->xid = get(&in);
	wanted = get(&in) == CALL;
	wanted &= get(&in) == 2;		/* the version of RPC */
	wanted &= get(&in) == NFS_PROGRAM;
	get(&in);				/* version, procedure */
	get(&in);
	wanted &= get(&in) == FLAVOR_GSS;
	get(&in);				/* the length of the credential */
	wanted &= get(&in) == GSS_VERSION;
	wanted &= get(&in) == GSS_DATA;
	call->seqno = get(&in);
	get(&in);				/* the service */
	call->handle_len = get(&in);
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

	get(&in);
	reply->xid = get(&in);
	if (get(&in) != REPLY)
		return false;
	denied = get(&in);
	if (in.bad || denied > 1)
		return false;
	reply->denied = denied;
	if (denied) {
		get(&in);			/* an authentication error, or a version */
	} else {
		get(&in);
		verf = get(&in);
		if (verf > LONGEST_VERF || !get_bytes(&in, verf))
			return false;
	}
	reply->status = get(&in);
	return !in.bad;
}

static uint8_t *put(uint8_t *at, uint32_t word)
{
	at[0] = word >> 24;
	at[1] = word >> 16;
	at[2] = word >> 8;
	at[3] = word;
	return at + 4;
}

static uint8_t *put_junk(uint8_t *at, uint32_t len)
{
	uint32_t i, padded = (len + 3) & ~3u;

	for (i = 0; i < padded; i++)
		at[i] = i < len ? rand() : 0;
	return at + padded;
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
	uint8_t *at = data + RPC_MARK;

	at = put(at, xid);
	at = put(at, CALL);
	at = put(at, 2);
	at = put(at, NFS_PROGRAM);
	at = put(at, 4);
	at = put(at, 0);
	at = put(at, FLAVOR_GSS);
	at = put(at, 20 + ((handle_len + 3) & ~3u));
	at = put(at, GSS_VERSION);
	at = put(at, GSS_DATA);
	at = put(at, xid);
	at = put(at, 1);			/* no integrity, no privacy */
	at = put(at, handle_len);
	at = put_junk(at, handle_len);
	at = put(at, FLAVOR_GSS);
	at = put(at, verf_len);
	at = put_junk(at, verf_len);
	put(data, LAST_FRAGMENT | (at - data - RPC_MARK));
	return at - data;
}
