// SPDX-License-Identifier: GPL-2.0
/*
 * Judge sequence numbers by a window that ends with the newest.
 *
 * Numbers that are in the window together are at different places, so each place needs to
 * know only which number was there last, and nothing is cleared when the window moves on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"
#include "window.h"

/**
 * window_open - begin with no number
 * @window: to set up
 * @size: how many numbers it holds, the newest among them
 */
void window_open(struct window *window, uint32_t size)
{
	window->size = size;
	window->newest = 0;
	window->seen = calloc(size, sizeof(*window->seen));
	if (!window->seen)
		bail_out("a window of %u: %s", size, strerror(errno));
}

/**
 * window_close - free what a window has
 * @window: not to be used any more
 */
void window_close(struct window *window)
{
	free(window->seen);
	window->seen = NULL;
}

/**
 * window_lag - how far a number is behind
 * @window: with the newest
 * @seqno: the number
 *
 * Return: the distance; 0 if it is the newest, or newer.
 */
uint32_t window_lag(const struct window *window, uint32_t seqno)
{
	return seqno < window->newest ? window->newest - seqno : 0;
}

/**
 * window_judge - judge a number, and remember it if it is good
 * @window: to judge by
 * @seqno: the number, below 2^31
 *
 * Return: what is to be done with its Call.
 */
enum judgement window_judge(struct window *window, uint32_t seqno)
{
	uint32_t *place = &window->seen[seqno % window->size];

	if (window_lag(window, seqno) >= window->size)
		return LOW;
	if (*place == seqno + 1)
		return SEEN;
	*place = seqno + 1;
	if (seqno > window->newest)
		window->newest = seqno;
	return ACCEPTED;
}
