/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sequence window of a GSS context, as RFC 2203 5.3.3.1 has a server keep it.
 */
#ifndef RIG_WINDOW_H
#define RIG_WINDOW_H

#include <stdint.h>

#define WINDOW_MOST	65536

enum judgement {
	ACCEPTED,
	LOW,		/* behind by the window or more */
	SEEN,
};

struct window {
	uint32_t	size;
	uint32_t	newest;		/* that was accepted */
	uint32_t	*seen;		/* for each place, the number accepted there, plus one */
};

void window_open(struct window *window, uint32_t size);
void window_close(struct window *window);
uint32_t window_lag(const struct window *window, uint32_t seqno);
enum judgement window_judge(struct window *window, uint32_t seqno);

#endif /* RIG_WINDOW_H */
