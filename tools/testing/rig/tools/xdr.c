// SPDX-License-Identifier: GPL-2.0
/*
 * Read and write words and bytes in the order of the network.
 */
#include <string.h>

#include "xdr.h"

static size_t padded(uint32_t len)
{
	return (len + 3ul) & ~3ul;
}

/**
 * get_word - read four bytes
 * @in: where from
 *
 * Return: the word; 0 if there is none.
 */
uint32_t get_word(struct reader *in)
{
	const uint8_t *at = get_bytes(in, 4);

	return at ? (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3] : 0;
}

/**
 * get_long - read eight bytes
 * @in: where from
 *
 * Return: their value.
 */
uint64_t get_long(struct reader *in)
{
	uint64_t high = get_word(in);

	return high << 32 | get_word(in);
}

/**
 * get_bytes - read bytes and what fills up their last word
 * @in: where from
 * @len: how many
 *
 * Return: the bytes; NULL if there are fewer.
 */
const uint8_t *get_bytes(struct reader *in, uint32_t len)
{
	const uint8_t *bytes = in->at;

	if (in->bad || in->left < padded(len)) {
		in->bad = true;
		return NULL;
	}
	in->at += padded(len);
	in->left -= padded(len);
	return bytes;
}

/**
 * get_opaque - read bytes that their length precedes
 * @in: where from
 * @len: set to the length
 * @most: how long they may be
 *
 * Return: the bytes; NULL if there are fewer, or more than allowed.
 */
const uint8_t *get_opaque(struct reader *in, uint32_t *len, uint32_t most)
{
	*len = get_word(in);
	if (*len > most)
		in->bad = true;
	return get_bytes(in, *len);
}

/**
 * put_room - room for bytes, with zeros where they do not fill their last word
 * @out: where to
 * @len: how many
 *
 * Return: where they go; NULL if there is too little room.
 */
uint8_t *put_room(struct writer *out, uint32_t len)
{
	uint8_t *room = out->at;

	if (out->full || out->left < padded(len)) {
		out->full = true;
		return NULL;
	}
	memset(room + len, 0, padded(len) - len);
	out->at += padded(len);
	out->left -= padded(len);
	return room;
}

/**
 * put_word - write four bytes
 * @out: where to
 * @word: their value
 */
void put_word(struct writer *out, uint32_t word)
{
	uint8_t *at = put_room(out, 4);

	if (!at)
		return;
	at[0] = word >> 24;
	at[1] = word >> 16;
	at[2] = word >> 8;
	at[3] = word;
}

/**
 * put_long - write eight bytes
 * @out: where to
 * @value: their value
 */
void put_long(struct writer *out, uint64_t value)
{
	put_word(out, value >> 32);
	put_word(out, value);
}

/**
 * put_opaque - write a length and so many bytes
 * @out: where to
 * @data: the bytes
 * @len: how many
 */
void put_opaque(struct writer *out, const void *data, uint32_t len)
{
	uint8_t *room;

	put_word(out, len);
	room = put_room(out, len);
	if (room && len)
		memcpy(room, data, len);
}
