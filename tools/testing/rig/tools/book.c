// SPDX-License-Identifier: GPL-2.0
/*
 * Keep some of the Calls that go by until they are as old as wanted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "book.h"
#include "peer.h"

#define EVERY_MS	100	/* keep a Call */
#define OVERLOOKED	4096	/* numbers later a Reply will hardly go by any more */

/*
 * What was seen on the wire here has not been judged there yet. The middle begins so far
 * past N, and the far so far past H, that this does not matter.
 */
static uint32_t margin(const struct book *book)
{
	unsigned long room = (book->history - book->window) / 4;

	return room < 256 ? 256 : room;
}

/**
 * has_middle - is there room between N and H?
 * @book: with the window
 *
 * Return: whether a Call can be past the one and surely inside the other.
 */
bool has_middle(const struct book *book)
{
	return book->history >= book->window + 2 * margin(book);
}

/* How far behind a Call has to be before it is sent again. */
static uint32_t wanted(const struct book *book, enum distance distance)
{
	switch (distance) {
	case MIDDLE:
		return book->window + margin(book);
	case FAR:
		return book->history + 256;
	default:
		return 0;
	}
}

/**
 * at_distance - was a Call where it should be while the server judged it?
 * @book: with the window
 * @distance: where it should be
 * @before: how far it was behind when it was sent
 * @after: and when the server had done with it
 *
 * Return: whether it was.
 */
bool at_distance(const struct book *book, enum distance distance, uint32_t before,
		 uint32_t after)
{
	switch (distance) {
	case NEAR:
		return after < book->window;
	case MIDDLE:
		return before >= wanted(book, MIDDLE) && after < book->history;
	default:
		return before >= wanted(book, FAR);
	}
}

/**
 * behind - how many sequence numbers a Call has fallen behind
 * @kept: the Call
 *
 * Return: their number.
 */
uint32_t behind(const struct kept *kept)
{
	return kept->context->newest - kept->seqno;
}

static struct context *find_context(struct book *book, const struct rpc_call *call)
{
	struct context *context;
	unsigned int i;

	for (i = 0; i < book->known; i++) {
		context = &book->contexts[i];
		if (context->len == call->handle_len &&
		    !memcmp(context->handle, call->handle, call->handle_len))
			return context;
	}
	if (book->known == CONTEXTS)
		return NULL;
	context = &book->contexts[book->known++];
	context->len = call->handle_len;
	context->newest = 0;
	memcpy(context->handle, call->handle, call->handle_len);
	return context;
}

/* The distance that fewest Calls were kept for. */
static enum distance choose(const struct book *book)
{
	enum distance best = NEAR, other;

	for (other = MIDDLE; other < DISTANCES; other++)
		if (book->chosen[other] < book->chosen[best] &&
		    (other != MIDDLE || has_middle(book)))
			best = other;
	return best;
}

static struct kept *find_room(struct book *book)
{
	struct kept *kept;

	for (kept = book->kept; kept < book->kept + KEPT; kept++) {
		if (kept->used && !kept->judged && behind(kept) > OVERLOOKED)
			book_drop(kept);
		if (!kept->used)
			return kept;
	}
	return NULL;
}

static void keep(struct book *book, struct context *context, const struct rpc_call *call,
		 const uint8_t *record, size_t len, uint16_t port)
{
	struct kept *kept = find_room(book);

	if (!kept)
		return;
	kept->record = malloc(len);
	if (!kept->record)
		bail_out("malloc: %s", strerror(errno));
	memcpy(kept->record, record, len);
	kept->len = len;
	kept->used = true;
	kept->judged = false;
	kept->port = port;
	kept->xid = call->xid;
	kept->seqno = call->seqno;
	kept->context = context;
	kept->distance = choose(book);
	book->chosen[kept->distance]++;
}

/**
 * book_calls - a segment to the server went by
 * @book: takes note of its Calls, and keeps one now and then
 * @data: of the segment; what does not begin with a Call is passed over
 * @len: its length
 * @port: of the client
 * @now: the time
 */
void book_calls(struct book *book, const uint8_t *data, size_t len, uint16_t port,
		uint64_t now)
{
	struct context *context;
	struct rpc_call call;
	size_t record;

	for (; (record = rpc_record(data, len)); data += record, len -= record) {
		if (rpc_read_call(data, len, &call)) {
			context = find_context(book, &call);
			/* What is sent again, by the client or by us, is nothing new. */
			if (context && call.seqno > context->newest) {
				context->newest = call.seqno;
				if (record <= len && now >= book->next) {
					keep(book, context, &call, data, record, port);
					book->next = now + EVERY_MS;
				}
			}
		}
		if (record >= len)
			break;
	}
}

/**
 * book_replies - a segment from the server went by
 * @book: marks the Calls that it answers: the server has judged them
 * @data: of the segment
 * @len: its length
 * @port: of the client
 */
void book_replies(struct book *book, const uint8_t *data, size_t len, uint16_t port)
{
	struct rpc_reply reply;
	size_t record;
	int i;

	for (; (record = rpc_record(data, len)); data += record, len -= record) {
		if (rpc_read_reply(data, len, &reply))
			for (i = 0; i < KEPT; i++)
				if (book->kept[i].used && book->kept[i].port == port &&
				    book->kept[i].xid == reply.xid)
					book->kept[i].judged = true;
		if (record >= len)
			break;
	}
}

/**
 * book_ripe - a Call that is to be sent again now
 * @book: has the Calls
 *
 * Only one whose Reply has gone by: otherwise ours could be the first that the server sees,
 * and the client's would be refused.
 *
 * Return: the Call, or NULL.
 */
struct kept *book_ripe(struct book *book)
{
	struct kept *kept;
	int i;

	for (i = 0; i < KEPT; i++) {
		kept = &book->kept[i];
		if (kept->used && kept->judged && behind(kept) >= wanted(book, kept->distance))
			return kept;
	}
	return NULL;
}

/**
 * book_drop - forget a Call
 * @kept: the Call
 */
void book_drop(struct kept *kept)
{
	free(kept->record);
	kept->record = NULL;
	kept->used = false;
}
