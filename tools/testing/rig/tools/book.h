/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known of the GSS contexts whose Calls go by, and the Calls kept to be sent again.
 */
#ifndef RIG_BOOK_H
#define RIG_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc.h"

#define KEPT		96
#define CONTEXTS	32

/* How far a Call has fallen behind when it is sent again. */
enum distance {
	NEAR,		/* inside N, right after its Reply */
	MIDDLE,		/* past N, inside H */
	FAR,		/* past H */
	DISTANCES,
};

struct context {
	uint8_t		handle[RPC_HANDLE];
	uint32_t	len;
	uint32_t	newest;		/* sequence number on the wire */
};

struct kept {
	bool		used;
	bool		judged;		/* its Reply has gone by */
	enum distance	distance;
	uint16_t	port;		/* of the client */
	uint32_t	xid;
	uint32_t	seqno;
	struct context	*context;
	uint8_t		*record;
	size_t		len;
};

struct book {
	unsigned long	window;		/* N */
	unsigned long	history;	/* H */
	uint64_t	next;		/* when to keep another Call */
	unsigned long	chosen[DISTANCES];
	struct context	contexts[CONTEXTS];
	unsigned int	known;
	struct kept	kept[KEPT];
};

void book_calls(struct book *book, const uint8_t *data, size_t len, uint16_t port,
		uint64_t now);
void book_replies(struct book *book, const uint8_t *data, size_t len, uint16_t port);
struct kept *book_ripe(struct book *book);
void book_drop(struct kept *kept);
uint32_t behind(const struct kept *kept);
bool has_middle(const struct book *book);
bool at_distance(const struct book *book, enum distance distance, uint32_t before,
		 uint32_t after);

#endif /* RIG_BOOK_H */
