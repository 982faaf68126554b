// SPDX-License-Identifier: GPL-2.0
/*
 * The sequence window that a server keeps for an RPCSEC_GSS context
 * (RFC 2203 Section 5.3.3.1)
 *
 * A bitmap says for the highest sequence number accepted so far, and for
 * those before it, which were accepted. A number serves once: what is in
 * the bitmap, or too low for it, is refused.
 *
 * The seq_window that a client is told limits what the client sends. It
 * does not limit how late a Call is judged: the server's threads run as
 * they are scheduled, and while one of them stalls the others move the
 * window on. So the bitmap is larger than what the client is told. It
 * starts small, within the context, and grows when the context is found
 * to be established; nobody can make the server allocate one before.
 *
 * Nothing here knows of Calls or connections. Callers have verified the
 * MIC of the number before they let it change the window: a forged number
 * near MAXSEQ would leave no room for the good ones.
 */

#include <kunit/visibility.h>
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "gss_svc_seq.h"

/* What the bitmaps of all contexts together may take, in KiB */
unsigned int gss_svc_seq_kbytes = 64 * 1024;
EXPORT_SYMBOL_IF_KUNIT(gss_svc_seq_kbytes);

/* What they do take, in bytes */
static atomic_long_t gss_svc_seq_bytes;

static unsigned long *gss_svc_seq_alloc(u32 nbits)
{
	long bytes = nbits / BITS_PER_BYTE;
	unsigned long *bits = NULL;

	if (atomic_long_add_return(bytes, &gss_svc_seq_bytes) <=
	    (long)READ_ONCE(gss_svc_seq_kbytes) * SZ_1K)
		bits = bitmap_zalloc(nbits, GFP_KERNEL | __GFP_NOWARN);
	if (!bits)
		atomic_long_sub(bytes, &gss_svc_seq_bytes);
	return bits;
}

/* @bits may be NULL */
static void gss_svc_seq_free(unsigned long *bits, u32 nbits)
{
	if (!bits)
		return;
	bitmap_free(bits);
	atomic_long_sub(nbits / BITS_PER_BYTE, &gss_svc_seq_bytes);
}

/**
 * gss_svc_seq_init - make the window of a context that has seen no number
 * @seq: the window, which nobody else uses yet
 *
 * It need not be destroyed unless it grows.
 */
void gss_svc_seq_init(struct gss_svc_seq *seq)
{
	memset(seq, 0, sizeof(*seq));
	spin_lock_init(&seq->lock);
	seq->nbits = GSS_SEQ_WIN;
	seq->bits = seq->base;
}
EXPORT_SYMBOL_IF_KUNIT(gss_svc_seq_init);

/**
 * gss_svc_seq_destroy - free what a window has grown to
 * @seq: the window, which nobody else uses any more
 *
 * Context: Any.
 */
void gss_svc_seq_destroy(struct gss_svc_seq *seq)
{
	if (seq->bits != seq->base)
		gss_svc_seq_free(seq->bits, seq->nbits);
}
EXPORT_SYMBOL_IF_KUNIT(gss_svc_seq_destroy);

/* The lowest number that the window can say something about */
static u32 gss_svc_seq_lowest(const struct gss_svc_seq *seq)
{
	u32 lowest = seq->max - min(seq->max, seq->nbits - 1);

	return max(lowest, seq->floor);
}

/*
 * Copy what is known from @lowest to seq->max into a larger bitmap, in
 * words: the old size divides the new one. The first and the last word
 * may be the same one of the old bitmap, which is used in a circle.
 */
static void gss_svc_seq_copy(const struct gss_svc_seq *seq, u32 lowest,
			     unsigned long *bits, u32 nbits)
{
	u32 from = seq->nbits / BITS_PER_LONG - 1;
	u32 to = nbits / BITS_PER_LONG - 1;
	u32 first = lowest / BITS_PER_LONG;
	u32 last = seq->max / BITS_PER_LONG;
	u32 i;

	for (i = first; i <= last; i++)
		bits[i & to] = seq->bits[i & from];
	bits[first & to] &= BITMAP_FIRST_WORD_MASK(lowest);
	bits[last & to] &= BITMAP_LAST_WORD_MASK(seq->max + 1);
}

/**
 * gss_svc_seq_grow - let a window reach further back
 * @seq: the window, which may be in use
 * @nbits: how many numbers it shall remember, a power of two not larger
 *	than %GSS_SVC_SEQ_MAX
 *
 * The window never shrinks. What it did not remember before it grew stays
 * unknown, and is refused as too low.
 *
 * Several threads may grow the same window at once.
 *
 * Context: Process context. May sleep.
 * Return: %true when the window remembers @nbits numbers or more. %false
 *	   when there is no memory, or no more of it for this purpose: then
 *	   the window is as it was, and as good as before.
 */
bool gss_svc_seq_grow(struct gss_svc_seq *seq, u32 nbits)
{
	unsigned long *bits;
	u32 lowest, was;

	if (READ_ONCE(seq->nbits) >= nbits)
		return true;

	bits = gss_svc_seq_alloc(nbits);
	if (!bits)
		return false;

	spin_lock(&seq->lock);
	if (seq->nbits < nbits) {
		lowest = gss_svc_seq_lowest(seq);
		gss_svc_seq_copy(seq, lowest, bits, nbits);
		/* The new bits below are clear, but not because we know */
		seq->floor = lowest;
		swap(seq->bits, bits);
		was = seq->nbits;
		/* Others look at it before they take the lock, as we did */
		WRITE_ONCE(seq->nbits, nbits);
		nbits = was;
	}
	spin_unlock(&seq->lock);

	/* The old one, or ours because another thread was faster */
	if (bits != seq->base)
		gss_svc_seq_free(bits, nbits);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(gss_svc_seq_grow);

/**
 * gss_svc_seq_sizes - choose the size of a new context's window
 * @threads: how many Calls the server may be working on at a time
 * @window: on return, the seq_window to tell the client, in numbers
 * @history: on return, how many numbers to remember, a power of two
 *
 * A client with as many Calls in flight as the server has threads should
 * not have to wait because one of them is slow; four times that, and 1024
 * at least, leaves it room. What the server remembers beyond the window is
 * for the time by which a thread may be late.
 *
 * Context: Any.
 */
void gss_svc_seq_sizes(unsigned int threads, u32 *window, u32 *history)
{
	const u32 max_window = GSS_SVC_SEQ_MAX / 8;
	const u32 min_window = GSS_SVC_SEQ_HISTORY / 8;
	u32 calls = 4 * clamp(threads, 1U, max_window / 4);

	*window = max_t(u32, roundup_pow_of_two(calls), min_window);
	*history = 8 * *window;
}
EXPORT_SYMBOL_IF_KUNIT(gss_svc_seq_sizes);

/**
 * gss_svc_seq_prepare - settle the seq_window of an established context
 * @seq: the context's window, which may be in use
 * @window: the seq_window that is wanted, in numbers
 * @history: how many numbers to remember, a power of two
 *
 * The first caller decides; whoever prepares the same window again, since
 * INIT was sent again, gets the same answer. The client is never told more
 * than the server remembers (RFC 2203 Section 5.2.3.1).
 *
 * Context: Process context. May sleep.
 * Return: The seq_window to tell the client.
 */
u32 gss_svc_seq_prepare(struct gss_svc_seq *seq, u32 window, u32 history)
{
	u32 settled = READ_ONCE(seq->window);

	if (settled)
		return settled;

	/* Without memory for it, the window is what it is */
	gss_svc_seq_grow(seq, history);

	spin_lock(&seq->lock);
	if (!seq->window)
		WRITE_ONCE(seq->window, min(window, seq->nbits));
	settled = seq->window;
	spin_unlock(&seq->lock);
	return settled;
}
EXPORT_SYMBOL_IF_KUNIT(gss_svc_seq_prepare);

/*
 * The window moves up to @num: forget the numbers whose bits it needs.
 *
 * Exactly those: with a spare word, a whole one could always be cleared,
 * but the window would reach less far back than it has bits.
 */
static void gss_svc_seq_advance(struct gss_svc_seq *seq, u32 num)
{
	u32 first = (seq->max + 1) & (seq->nbits - 1);
	u32 nr = num - seq->max;

	seq->max = num;
	if (nr >= seq->nbits) {
		bitmap_zero(seq->bits, seq->nbits);
		return;
	}

	/* In order, and the bit is about to be set */
	if (--nr == 0)
		return;
	if (first + nr > seq->nbits) {
		bitmap_clear(seq->bits, 0, first + nr - seq->nbits);
		nr = seq->nbits - first;
	}
	bitmap_clear(seq->bits, first, nr);
}

/* The caller holds seq->lock */
static enum gss_svc_seq_verdict
gss_svc_seq_judge(struct gss_svc_seq *seq, u32 num,
		  struct gss_svc_seq_place *place)
{
	u32 lowest;

	place->max = seq->max;
	place->min = 0;
	place->lag = 0;

	if (num > seq->max) {
		gss_svc_seq_advance(seq, num);
		__set_bit(num & (seq->nbits - 1), seq->bits);
		return GSS_SVC_SEQ_ACCEPTED;
	}

	place->lag = seq->max - num;
	lowest = gss_svc_seq_lowest(seq);
	if (num < lowest) {
		place->min = lowest - 1;
		return GSS_SVC_SEQ_LOW;
	}
	if (__test_and_set_bit(num & (seq->nbits - 1), seq->bits))
		return GSS_SVC_SEQ_SEEN;
	return GSS_SVC_SEQ_ACCEPTED;
}

/* The caller holds seq->lock */
static void gss_svc_seq_count(struct gss_svc_seq *seq,
			      enum gss_svc_seq_verdict verdict, u32 lag)
{
	switch (verdict) {
	case GSS_SVC_SEQ_ACCEPTED:
		seq->accepted++;
		if (lag > seq->max_lag)
			seq->max_lag = lag;
		break;
	case GSS_SVC_SEQ_LOW:
		seq->low++;
		break;
	case GSS_SVC_SEQ_SEEN:
		seq->seen++;
		break;
	}
}

/**
 * gss_svc_seq_check - judge a sequence number, and remember it if it is good
 * @seq: the window of its context
 * @num: the number, from zero to MAXSEQ, whose MIC has been verified
 * @place: on return, where the number stood
 *
 * Context: Any that may take a spinlock which is not safe against
 *	    interrupts. Does not sleep.
 * Return: %GSS_SVC_SEQ_ACCEPTED, or the reason to refuse the Call, in which
 *	   case the window is as it was but for its counters.
 */
enum gss_svc_seq_verdict gss_svc_seq_check(struct gss_svc_seq *seq, u32 num,
					   struct gss_svc_seq_place *place)
{
	enum gss_svc_seq_verdict verdict;

	spin_lock(&seq->lock);
	verdict = gss_svc_seq_judge(seq, num, place);
	gss_svc_seq_count(seq, verdict, place->lag);
	spin_unlock(&seq->lock);
	return verdict;
}
EXPORT_SYMBOL_IF_KUNIT(gss_svc_seq_check);

/**
 * gss_svc_seq_read - look at a window
 * @seq: the window, which may be in use
 * @stats: on return, what there is to say about it at one point in time
 *
 * Context: As gss_svc_seq_check(). Also safe under RCU, without a reference
 *	    to the context, where the context's memory is.
 */
void gss_svc_seq_read(struct gss_svc_seq *seq, struct gss_svc_seq_stats *stats)
{
	spin_lock(&seq->lock);
	stats->window = seq->window;
	stats->nbits = seq->nbits;
	stats->max = seq->max;
	stats->floor = seq->floor;
	stats->max_lag = seq->max_lag;
	stats->accepted = seq->accepted;
	stats->low = seq->low;
	stats->seen = seq->seen;
	spin_unlock(&seq->lock);
}
EXPORT_SYMBOL_IF_KUNIT(gss_svc_seq_read);

#if IS_ENABLED(CONFIG_KUNIT)
/**
 * gss_svc_seq_allocated - what the bitmaps of all contexts take
 *
 * Context: Any.
 * Return: That, in bytes.
 */
long gss_svc_seq_allocated(void)
{
	return atomic_long_read(&gss_svc_seq_bytes);
}
EXPORT_SYMBOL_IF_KUNIT(gss_svc_seq_allocated);
#endif
