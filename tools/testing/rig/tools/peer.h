/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of this folder share: options, time, connections, an end in one line.
 */
#ifndef RIG_PEER_H
#define RIG_PEER_H

#include <netinet/in.h>
#include <stdint.h>

struct option_row {
	const char	*name;		/* as in --name VALUE */
	unsigned long	*number;	/* where a number goes, */
	const char	**text;		/* or a text */
};

__attribute__((noreturn, format(printf, 1, 2)))
void bail_out(const char *format, ...);
void read_options(int argc, char **argv, const struct option_row *rows);
struct sockaddr_in peer_address(const char *text, unsigned long port);
int peer_connect(const struct sockaddr_in *peer);
uint64_t now_ms(void);

#endif /* RIG_PEER_H */
