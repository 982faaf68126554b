/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TCP segments that go by on a network device, in both directions.
 */
#ifndef RIG_SNIFF_H
#define RIG_SNIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct segment {
	uint32_t	from;		/* addresses as they are in the packet */
	uint32_t	to;
	uint16_t	from_port;	/* ports in host order */
	uint16_t	to_port;
	const uint8_t	*data;
	size_t		len;
};

int sniff_open(const char *device);
int sniff_next(int fd, struct segment *segment);
unsigned long sniff_lost(int fd);

#endif /* RIG_SNIFF_H */
