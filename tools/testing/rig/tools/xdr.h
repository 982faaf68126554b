/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Words and bytes in the order of the network (RFC 4506).
 */
#ifndef RIG_XDR_H
#define RIG_XDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is left to read. Once there was too little of it, it stays bad. */
struct reader {
	const uint8_t	*at;
	size_t		left;
	bool		bad;
};

/* Where to write. Once there was too little room, it stays full. */
struct writer {
	uint8_t		*at;
	size_t		left;
	bool		full;
};

uint32_t get_word(struct reader *in);
uint64_t get_long(struct reader *in);
const uint8_t *get_bytes(struct reader *in, uint32_t len);
const uint8_t *get_opaque(struct reader *in, uint32_t *len, uint32_t most);
void put_word(struct writer *out, uint32_t word);
void put_long(struct writer *out, uint64_t value);
uint8_t *put_room(struct writer *out, uint32_t len);
void put_opaque(struct writer *out, const void *data, uint32_t len);

#endif /* RIG_XDR_H */
