// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the server's RPCSEC_GSS sequence window
 * (RFC 2203 Section 5.3.3.1)
 *
 * The window judges numbers from tables, and streams of numbers beside
 * the algorithm that svcauth_gss.c had before the window had a file of
 * its own.
 */

#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/sunrpc/auth_gss.h>

#include "../auth_gss/gss_svc_seq.h"

#define TEST_SEED	0x5eed2203

/* What svcauth_gss.c had, without its tracepoints */

struct old_window {
	u32			sd_max;
	unsigned long		sd_win[GSS_SEQ_WIN / BITS_PER_LONG];
	spinlock_t		sd_lock;	/* for all other fields */
};

static noinline bool old_window_check(struct old_window *sd, u32 seq_num)
{
	bool result = false;

	spin_lock(&sd->sd_lock);
	if (seq_num > sd->sd_max) {
		if (seq_num >= sd->sd_max + GSS_SEQ_WIN) {
			memset(sd->sd_win, 0, sizeof(sd->sd_win));
			sd->sd_max = seq_num;
		} else {
			while (sd->sd_max < seq_num) {
				sd->sd_max++;
				__clear_bit(sd->sd_max % GSS_SEQ_WIN,
					    sd->sd_win);
			}
		}
		__set_bit(seq_num % GSS_SEQ_WIN, sd->sd_win);
		goto ok;
	} else if (seq_num + GSS_SEQ_WIN <= sd->sd_max) {
		goto out;
	}
	if (__test_and_set_bit(seq_num % GSS_SEQ_WIN, sd->sd_win))
		goto out;

ok:
	result = true;
out:
	spin_unlock(&sd->sd_lock);
	return result;
}

static void old_window_init(struct old_window *sd)
{
	memset(sd, 0, sizeof(*sd));
	spin_lock_init(&sd->sd_lock);
}

/* A window, which goes when the test ends */

KUNIT_DEFINE_ACTION_WRAPPER(window_destroy, gss_svc_seq_destroy,
			    struct gss_svc_seq *);

static struct gss_svc_seq *window_make(struct kunit *test, u32 nbits)
{
	struct gss_svc_seq *seq;

	seq = kunit_kzalloc(test, sizeof(*seq), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seq);
	gss_svc_seq_init(seq);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, window_destroy,
							   seq));
	KUNIT_ASSERT_TRUE(test, gss_svc_seq_grow(seq, nbits));
	KUNIT_ASSERT_EQ(test, nbits, seq->nbits);
	return seq;
}

/* What it was after it was made */
static void window_reset(struct gss_svc_seq *seq)
{
	bitmap_zero(seq->bits, seq->nbits);
	seq->max = 0;
	seq->floor = 0;
}

static void free_numbers(void *numbers)
{
	kvfree(numbers);
}

/* Which of the numbers below @nr were accepted */
static unsigned long *numbers_make(struct kunit *test, u32 nr)
{
	unsigned long *numbers = kvcalloc(BITS_TO_LONGS(nr), sizeof(long),
					  GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, numbers);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_numbers,
							   numbers));
	return numbers;
}

static const u32 window_sizes[] = {
	128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536,
};

static void size_desc(const u32 *nbits, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u numbers", *nbits);
}

KUNIT_ARRAY_PARAM(size, window_sizes, size_desc);

/* Numbers one by one, and what becomes of them */

struct window_row {
	u32				num;
	enum gss_svc_seq_verdict	verdict;
};

struct table_case {
	const char			*desc;
	const struct window_row		*rows;
	unsigned int			nr;
};

#define W			GSS_SEQ_WIN
#define ACCEPTED(n)		{ n, GSS_SVC_SEQ_ACCEPTED }
#define LOW(n)			{ n, GSS_SVC_SEQ_LOW }
#define SEEN(n)			{ n, GSS_SVC_SEQ_SEEN }
#define TABLE(text, ...)						\
	{								\
		.desc	= text,						\
		.rows	= (const struct window_row[]){ __VA_ARGS__ },	\
		.nr	= sizeof((const struct window_row[])		\
				 { __VA_ARGS__ }) /			\
			  sizeof(struct window_row),			\
	}

static const struct table_case table_cases[] = {
	TABLE("zero comes first",
	      ACCEPTED(0), SEEN(0), ACCEPTED(1), SEEN(0), SEEN(1)),
	TABLE("zero comes second",
	      ACCEPTED(1), ACCEPTED(0), SEEN(0), SEEN(1)),
	TABLE("first number is the last in reach",
	      ACCEPTED(W - 1), ACCEPTED(0), SEEN(0), SEEN(W - 1)),
	TABLE("first number is as large as the window",
	      ACCEPTED(W), LOW(0), ACCEPTED(1), SEEN(1), SEEN(W)),
	TABLE("first number is larger than the window",
	      ACCEPTED(W + 1), LOW(0), LOW(1), ACCEPTED(2), SEEN(2)),
	TABLE("three, one, two",
	      ACCEPTED(3), ACCEPTED(1), ACCEPTED(2),
	      SEEN(3), SEEN(1), SEEN(2)),
	TABLE("numbers leave at the lower end one by one",
	      ACCEPTED(5), ACCEPTED(W + 4), SEEN(5), ACCEPTED(W + 5), LOW(5),
	      ACCEPTED(6), ACCEPTED(W + 6), LOW(6), ACCEPTED(7)),
	TABLE("a wide gap forgets all but what is too low",
	      ACCEPTED(1), ACCEPTED(2), ACCEPTED(W * 10), LOW(1), LOW(2),
	      LOW(W * 9), ACCEPTED(W * 9 + 1), SEEN(W * 10)),
	TABLE("a gap of one window",
	      ACCEPTED(40), ACCEPTED(W + 40), LOW(40), ACCEPTED(41),
	      SEEN(W + 40)),
	TABLE("a gap of one less than a window",
	      ACCEPTED(40), ACCEPTED(W + 39), SEEN(40), LOW(39),
	      ACCEPTED(41), SEEN(W + 39)),
	TABLE("the last number of all",
	      ACCEPTED(MAXSEQ - 1), ACCEPTED(MAXSEQ), SEEN(MAXSEQ),
	      SEEN(MAXSEQ - 1), LOW(MAXSEQ - W), ACCEPTED(MAXSEQ - W + 1),
	      LOW(0), LOW(1)),
	TABLE("the last number comes first",
	      ACCEPTED(MAXSEQ), SEEN(MAXSEQ), LOW(0), LOW(MAXSEQ - W),
	      ACCEPTED(MAXSEQ - 1)),
};

KUNIT_ARRAY_PARAM_DESC(table, table_cases, desc);

static void window_judges_by_the_table(struct kunit *test)
{
	const struct table_case *param = test->param_value;
	struct gss_svc_seq *seq = window_make(test, W);
	struct gss_svc_seq_place place;
	unsigned int i;

	for (i = 0; i < param->nr; i++) {
		const struct window_row *row = &param->rows[i];

		KUNIT_EXPECT_EQ_MSG(test, row->verdict,
				    gss_svc_seq_check(seq, row->num, &place),
				    "row %u, number %u", i, row->num);
	}
}

/* The tracepoints say where a number stood */
static void window_says_where_a_number_stood(struct kunit *test)
{
	struct gss_svc_seq *seq = window_make(test, W);
	struct gss_svc_seq_place place;

	gss_svc_seq_check(seq, 1000, &place);
	KUNIT_EXPECT_EQ(test, 0, place.max);
	KUNIT_EXPECT_EQ(test, 0, place.lag);

	gss_svc_seq_check(seq, 990, &place);
	KUNIT_EXPECT_EQ(test, 1000, place.max);
	KUNIT_EXPECT_EQ(test, 10, place.lag);

	/* As the window has been traced ever since */
	gss_svc_seq_check(seq, 100, &place);
	KUNIT_EXPECT_EQ(test, 1000, place.max);
	KUNIT_EXPECT_EQ(test, 1000 - W, place.min);
	KUNIT_EXPECT_EQ(test, 900, place.lag);
}

/* Streams of numbers */

#define STREAM_LEN	20000

struct stream_case {
	const char	*desc;
	u32		(*next)(struct rnd_state *rnd, u32 i, u32 max);
};

static u32 stream_in_order(struct rnd_state *rnd, u32 i, u32 max)
{
	return i + 1;
}

/* Blocks that each run backwards */
static u32 stream_in_reverse(struct rnd_state *rnd, u32 i, u32 max)
{
	return i / 100 * 100 + 99 - i % 100;
}

static u32 stream_too_far_in_reverse(struct rnd_state *rnd, u32 i, u32 max)
{
	return i / 200 * 200 + 199 - i % 200;
}

static u32 stream_twice(struct rnd_state *rnd, u32 i, u32 max)
{
	return i / 2;
}

static u32 stream_with_gaps(struct rnd_state *rnd, u32 i, u32 max)
{
	return max + 1 + prandom_u32_state(rnd) % (2 * W);
}

/* Mostly behind, here and there ahead */
static u32 stream_shuffled(struct rnd_state *rnd, u32 i, u32 max)
{
	u32 to = max + 8, reach = 2 * W;

	return to - prandom_u32_state(rnd) % min(reach, to);
}

static u32 stream_up_to_the_end(struct rnd_state *rnd, u32 i, u32 max)
{
	u32 from = MAXSEQ - STREAM_LEN / 2;

	if (max < from)
		return from;
	return min_t(u32, stream_shuffled(rnd, i, max), MAXSEQ);
}

static const struct stream_case stream_cases[] = {
	{ "in order",			stream_in_order },
	{ "in reverse",			stream_in_reverse },
	{ "too far in reverse",		stream_too_far_in_reverse },
	{ "each number twice",		stream_twice },
	{ "with gaps",			stream_with_gaps },
	{ "shuffled",			stream_shuffled },
	{ "up to the last number",	stream_up_to_the_end },
};

KUNIT_ARRAY_PARAM_DESC(stream, stream_cases, desc);

static void window_decides_as_before(struct kunit *test)
{
	const struct stream_case *param = test->param_value;
	struct gss_svc_seq *seq = window_make(test, W);
	struct gss_svc_seq_place place;
	struct old_window *old;
	struct rnd_state rnd;
	u32 i, num;

	old = kunit_kzalloc(test, sizeof(*old), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, old);
	old_window_init(old);
	prandom_seed_state(&rnd, TEST_SEED);

	for (i = 0; i < STREAM_LEN; i++) {
		bool was, is;

		num = param->next(&rnd, i, old->sd_max);
		was = old_window_check(old, num);
		is = gss_svc_seq_check(seq, num, &place) ==
		     GSS_SVC_SEQ_ACCEPTED;
		if (was != is || old->sd_max != seq->max) {
			KUNIT_FAIL(test, "number %u, the %uth: %s", num, i,
				   is ? "accepted" : "refused");
			return;
		}
	}
}

/* Gaps: what lies in them is unknown, what is before them is not */

struct gap_case {
	const char	*desc;
	u32		gap;
};

static const struct gap_case gap_cases[] = {
	{ "one",			1 },
	{ "two",			2 },
	{ "one less than a word",	63 },
	{ "a word",			64 },
	{ "one more than a word",	65 },
	{ "all but a word and one",	W - 65 },
	{ "all but a word",		W - 64 },
	{ "one less than the window",	W - 1 },
	{ "the window",			W },
	{ "one more than the window",	W + 1 },
	{ "many windows",		10 * W + 7 },
};

KUNIT_ARRAY_PARAM_DESC(gap, gap_cases, desc);

/* Everything up to @max is known; then comes @max + @gap */
static bool gap_is_exact(struct kunit *test, struct gss_svc_seq *seq, u32 max,
			 u32 gap)
{
	struct gss_svc_seq_place place;
	enum gss_svc_seq_verdict want;
	u32 num, end = max + gap;

	window_reset(seq);
	for (num = max - (W - 1); num <= max; num++)
		gss_svc_seq_check(seq, num, &place);
	gss_svc_seq_check(seq, end, &place);

	for (num = end > 2 * W ? end - 2 * W : 0; num <= end; num++) {
		if (end - num >= W)
			want = GSS_SVC_SEQ_LOW;
		else if (num <= max || num == end)
			want = GSS_SVC_SEQ_SEEN;
		else
			want = GSS_SVC_SEQ_ACCEPTED;
		if (gss_svc_seq_check(seq, num, &place) != want) {
			KUNIT_FAIL(test, "number %u after %u and %u", num, max,
				   end);
			return false;
		}
	}
	return true;
}

/* Wherever in the bitmap it begins */
static void window_forgets_a_gap_and_no_more(struct kunit *test)
{
	const struct gap_case *param = test->param_value;
	struct gss_svc_seq *seq = window_make(test, W);
	u32 i;

	for (i = 0; i < W; i++)
		if (!gap_is_exact(test, seq, 7 * W + i, param->gap))
			return;
}

/*
 * How long it takes, beside what it took before. Only the ratio of the
 * fastest rounds is judged: what else the machine does can only add to a
 * round. They take turns until the ratio is good, or for long enough to
 * say that it is not.
 */

#define TIMING_ROUNDS	31
#define TIMING_PATIENCE	2000
#define TIMING_CHECKS	2000
#define TIMING_LONG	20

struct timing_case {
	const char	*desc;
	u32		nbits;
	u32		gap;
	unsigned int	percent;	/* of the old time, at most */
};

static const struct timing_case timing_cases[] = {
	{ "in order",				W,	1,	110 },
	{ "in order with a history",		8192,	1,	110 },
	{ "the widest gap",			W,	W - 1,	10 },
	{ "the same gap with a history",	8192,	W - 1,	10 },
};

KUNIT_ARRAY_PARAM_DESC(timing, timing_cases, desc);

struct timing {
	unsigned int	rounds;
	u64		was;		/* ns, of the fastest round */
	u64		is;
};

static void timing_init(struct timing *timing)
{
	timing->rounds = 0;
	timing->was = U64_MAX;
	timing->is = U64_MAX;
}

static bool timing_good(const struct timing *timing, unsigned int percent)
{
	return timing->is * 100 <= timing->was * percent;
}

/* Take a round's times; true: one more, please */
static bool timing_more(struct timing *timing, u64 was, u64 is,
			unsigned int percent)
{
	timing->was = min(timing->was, was);
	timing->is = min(timing->is, is);
	timing->rounds++;
	return timing->rounds < TIMING_ROUNDS ||
	       (timing->rounds < TIMING_PATIENCE &&
		!timing_good(timing, percent));
}

static u64 timing_since(ktime_t begin)
{
	return ktime_to_ns(ktime_sub(ktime_get(), begin));
}

static u64 timing_old(struct old_window *old, u32 gap)
{
	u32 i, num = old->sd_max;
	ktime_t begin = ktime_get();

	for (i = 0; i < TIMING_CHECKS; i++)
		old_window_check(old, num += gap);
	return timing_since(begin);
}

static u64 timing_new(struct gss_svc_seq *seq, u32 gap)
{
	struct gss_svc_seq_place place;
	u32 i, num = seq->max;
	ktime_t begin = ktime_get();

	for (i = 0; i < TIMING_CHECKS; i++)
		gss_svc_seq_check(seq, num += gap, &place);
	return timing_since(begin);
}

static void timing_judge(struct kunit *test, const struct timing *timing,
			 unsigned int checks, unsigned int percent)
{
	kunit_info(test, "%llu ps before, %llu ps now, %llu%% after %u rounds\n",
		   div_u64(timing->was * 1000, checks),
		   div_u64(timing->is * 1000, checks),
		   div64_u64(timing->is * 100, max(timing->was, 1)),
		   timing->rounds);
	KUNIT_EXPECT_TRUE(test, timing_good(timing, percent));
}

/* As under UML's time travel: no machine goes round in 10 ps */
static bool timing_stands_still(void)
{
	ktime_t begin = ktime_get();
	u32 i;

	for (i = 0; i < 100000; i++)
		barrier();
	return timing_since(begin) < 1000;
}

static void timing_needs_a_plain_kernel(struct kunit *test)
{
	/* These check what they see, which is not what is timed here */
	if (IS_ENABLED(CONFIG_KASAN) || IS_ENABLED(CONFIG_KCSAN) ||
	    IS_ENABLED(CONFIG_KMSAN) || IS_ENABLED(CONFIG_DEBUG_SPINLOCK) ||
	    IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "a kernel with checks in every access");
	if (timing_stands_still())
		kunit_skip(test, "a clock that stands still while code runs");
}

static struct old_window *old_window_make(struct kunit *test)
{
	struct old_window *old = kunit_kzalloc(test, sizeof(*old), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, old);
	old_window_init(old);
	return old;
}

static void window_takes_no_longer(struct kunit *test)
{
	const struct timing_case *param = test->param_value;
	struct gss_svc_seq *seq = window_make(test, param->nbits);
	struct old_window *old = old_window_make(test);
	struct timing timing;
	u64 was, is;

	timing_needs_a_plain_kernel(test);
	timing_init(&timing);
	do {
		was = timing_old(old, param->gap);
		is = timing_new(seq, param->gap);
	} while (timing_more(&timing, was, is, param->percent));
	timing_judge(test, &timing, TIMING_CHECKS, param->percent);
}

/* The bit loop with as many bits as the window has now */
static u64 timing_loop(unsigned long *bits, u32 nbits, u32 *max, u32 gap)
{
	u32 i, num = *max, mask = nbits - 1;
	ktime_t begin = ktime_get();

	for (i = 0; i < TIMING_LONG; i++) {
		num += gap;
		while (*max < num) {
			++*max;
			__clear_bit(*max & mask, bits);
		}
		__set_bit(num & mask, bits);
	}
	return timing_since(begin);
}

static void window_crosses_the_widest_gap_of_all(struct kunit *test)
{
	const u32 nbits = GSS_SVC_SEQ_MAX;
	struct gss_svc_seq *seq = window_make(test, nbits);
	struct gss_svc_seq_place place;
	struct timing timing;
	unsigned long *bits;
	u32 i, max = 0;
	ktime_t begin;
	u64 was;

	timing_needs_a_plain_kernel(test);
	bits = numbers_make(test, nbits);
	timing_init(&timing);
	do {
		was = timing_loop(bits, nbits, &max, nbits - 1);
		begin = ktime_get();
		for (i = 0; i < TIMING_LONG; i++)
			gss_svc_seq_check(seq, seq->max + nbits - 1, &place);
	} while (timing_more(&timing, was, timing_since(begin), 1));
	timing_judge(test, &timing, TIMING_LONG, 1);
}

/* An oracle that forgets nothing */

#define ORACLE_NUMBERS	1048576
#define ORACLE_CHECKS	130000

static enum gss_svc_seq_verdict oracle_check(unsigned long *numbers, u32 *max,
					     u32 lowest, u32 num)
{
	if (num > *max)
		*max = num;
	else if (num < lowest)
		return GSS_SVC_SEQ_LOW;
	return __test_and_set_bit(num, numbers) ? GSS_SVC_SEQ_SEEN :
						  GSS_SVC_SEQ_ACCEPTED;
}

/* The lowest number in reach, if none was forgotten */
static u32 oracle_lowest(u32 max, u32 nbits)
{
	return max < nbits ? 0 : max - nbits + 1;
}

/* One that is next, late, much too late, known, or far ahead */
static u32 oracle_next(struct rnd_state *rnd, u32 max, u32 nbits)
{
	u32 dice = prandom_u32_state(rnd) % 64;
	u32 far = prandom_u32_state(rnd);

	if (dice < 24)
		return max + 1;
	if (dice < 32)
		return max + 1 + far % 40;
	if (dice < 48)
		return max - far % (min(max, 100) + 1);
	if (dice < 63)
		return max - far % (min(max, 2 * nbits) + 1);
	return max + 1 + far % (nbits + nbits / 8);
}

static void window_agrees_with_an_oracle(struct kunit *test)
{
	const u32 nbits = *(const u32 *)test->param_value;
	struct gss_svc_seq *seq = window_make(test, nbits);
	u32 i, num, max = 0, verdicts[3] = { };
	enum gss_svc_seq_verdict want, got;
	struct gss_svc_seq_place place;
	unsigned long *numbers;
	struct rnd_state rnd;

	numbers = numbers_make(test, ORACLE_NUMBERS);
	prandom_seed_state(&rnd, TEST_SEED + nbits);

	for (i = 0; i < ORACLE_CHECKS; i++) {
		num = oracle_next(&rnd, max, nbits);
		if (num >= ORACLE_NUMBERS) {
			bitmap_zero(numbers, ORACLE_NUMBERS);
			window_reset(seq);
			max = 0;
			continue;
		}
		want = oracle_check(numbers, &max, oracle_lowest(max, nbits),
				    num);
		got = gss_svc_seq_check(seq, num, &place);
		if (got != want) {
			KUNIT_FAIL(test, "number %u behind %u: %d, not %d", num,
				   place.max, got, want);
			return;
		}
		verdicts[got]++;
	}
	/* The oracle was asked all kinds of questions */
	KUNIT_EXPECT_GT(test, verdicts[GSS_SVC_SEQ_ACCEPTED], 1000);
	KUNIT_EXPECT_GT(test, verdicts[GSS_SVC_SEQ_LOW], 1000);
	KUNIT_EXPECT_GT(test, verdicts[GSS_SVC_SEQ_SEEN], 1000);
}

/* The first number that a context sees, and those that come behind it */
static void window_starts_with_any_number(struct kunit *test)
{
	const u32 nbits = *(const u32 *)test->param_value;
	const u32 firsts[] = {
		0, 1, nbits - 1, nbits, nbits + 1, MAXSEQ - nbits, MAXSEQ,
	};
	struct gss_svc_seq *seq = window_make(test, nbits);
	struct gss_svc_seq_place place;
	u32 i, num, first, lowest;

	for (i = 0; i < ARRAY_SIZE(firsts); i++) {
		first = firsts[i];
		lowest = oracle_lowest(first, nbits);
		window_reset(seq);
		KUNIT_EXPECT_EQ(test, GSS_SVC_SEQ_ACCEPTED,
				gss_svc_seq_check(seq, first, &place));
		for (num = first; num > lowest; num--)
			if (gss_svc_seq_check(seq, num - 1, &place) !=
			    GSS_SVC_SEQ_ACCEPTED)
				break;
		KUNIT_EXPECT_EQ(test, lowest, num);
		for (num = lowest; num <= first; num++)
			if (gss_svc_seq_check(seq, num, &place) !=
			    GSS_SVC_SEQ_SEEN)
				break;
		KUNIT_EXPECT_EQ(test, first + 1, num);
		if (lowest)
			KUNIT_EXPECT_EQ(test, GSS_SVC_SEQ_LOW,
					gss_svc_seq_check(seq, lowest - 1,
							  &place));
	}
}

/* As window_forgets_a_gap_and_no_more, by a look at the bits */
static void window_of_any_size_forgets_a_gap(struct kunit *test)
{
	const u32 nbits = *(const u32 *)test->param_value, mask = nbits - 1;
	const u32 gaps[] = {
		1, 2, 63, 64, 65, nbits - 65, nbits - 64, nbits - 1, nbits,
		nbits + 1,
	};
	struct gss_svc_seq *seq = window_make(test, nbits);
	struct gss_svc_seq_place place;
	u32 i, max, num, end, clear;

	for (i = 0; i < ARRAY_SIZE(gaps) * 64; i++) {
		max = 3 * nbits + i % 64;
		end = max + gaps[i / 64];
		bitmap_fill(seq->bits, nbits);
		seq->max = max;
		KUNIT_ASSERT_EQ(test, GSS_SVC_SEQ_ACCEPTED,
				gss_svc_seq_check(seq, end, &place));

		clear = min(end - max, nbits) - 1;
		for (num = end - 1; num > end - 1 - clear; num--)
			if (test_bit(num & mask, seq->bits))
				break;
		if (num != end - 1 - clear ||
		    bitmap_weight(seq->bits, nbits) != nbits - clear) {
			KUNIT_FAIL(test, "gap from %u to %u", max, end);
			return;
		}
	}
}

/* Growing */

#define GROWTH_ROUNDS	200
#define GROWTH_NUMBERS	16384
#define GROWTH_CHECKS	4000

/*
 * The window grows here and there while numbers arrive in bad order. What
 * it has forgotten by then stays forgotten, and nothing comes in twice.
 */
static bool growth_round(struct kunit *test, struct rnd_state *rnd,
			 unsigned long *numbers)
{
	u32 i, num, max = 0, lowest, floor = 0, nbits = GSS_SEQ_WIN;
	enum gss_svc_seq_verdict want, got;
	struct gss_svc_seq_place place;
	struct gss_svc_seq seq;
	bool good = true;

	bitmap_zero(numbers, GROWTH_NUMBERS);
	gss_svc_seq_init(&seq);
	for (i = 0; i < GROWTH_CHECKS && good; i++) {
		lowest = max(floor, oracle_lowest(max, nbits));
		if (prandom_u32_state(rnd) % 256 == 0 &&
		    nbits < GSS_SVC_SEQ_MAX) {
			floor = lowest;
			nbits <<= 1 + prandom_u32_state(rnd) % 2;
			nbits = min_t(u32, nbits, GSS_SVC_SEQ_MAX);
			KUNIT_EXPECT_TRUE(test, gss_svc_seq_grow(&seq, nbits));
		}
		num = oracle_next(rnd, max, 200);
		if (num >= GROWTH_NUMBERS)
			break;
		want = oracle_check(numbers, &max, lowest, num);
		got = gss_svc_seq_check(&seq, num, &place);
		good = got == want;
		if (!good)
			KUNIT_FAIL(test, "number %u behind %u, floor %u: %d, not %d",
				   num, place.max, floor, got, want);
	}
	gss_svc_seq_destroy(&seq);
	return good;
}

static void window_grows_and_accepts_nothing_twice(struct kunit *test)
{
	unsigned long *numbers = numbers_make(test, GROWTH_NUMBERS);
	struct rnd_state rnd;
	unsigned int i;

	prandom_seed_state(&rnd, TEST_SEED);
	for (i = 0; i < GROWTH_ROUNDS; i++)
		if (!growth_round(test, &rnd, numbers))
			return;
}

/* Every third number up to @max is missing when the window grows */
static bool growth_keeps(struct kunit *test, u32 max)
{
	const u32 lowest = oracle_lowest(max, W);
	enum gss_svc_seq_verdict want;
	struct gss_svc_seq_place place;
	struct gss_svc_seq seq;
	u32 num;

	gss_svc_seq_init(&seq);
	for (num = 0; num <= max; num++)
		if (num == max || num % 3)
			gss_svc_seq_check(&seq, num, &place);
	KUNIT_EXPECT_TRUE(test, gss_svc_seq_grow(&seq, 8 * W));
	KUNIT_EXPECT_EQ(test, max, seq.max);
	KUNIT_EXPECT_EQ(test, lowest, seq.floor);

	for (num = 0; num <= max; num++) {
		want = GSS_SVC_SEQ_ACCEPTED;
		if (num < lowest)
			want = GSS_SVC_SEQ_LOW;
		else if (num == max || num % 3)
			want = GSS_SVC_SEQ_SEEN;
		if (gss_svc_seq_check(&seq, num, &place) != want ||
		    (want == GSS_SVC_SEQ_LOW && place.min != lowest - 1))
			break;
	}
	gss_svc_seq_destroy(&seq);
	KUNIT_EXPECT_EQ_MSG(test, max + 1, num, "number %u behind %u", num,
			    max);
	return num > max;
}

/* From every position in the circle, and into it */
static void window_takes_along_what_it_knows(struct kunit *test)
{
	u32 max;

	for (max = 1; max <= 4 * W; max++)
		if (!growth_keeps(test, max))
			return;
}

static void window_never_shrinks(struct kunit *test)
{
	struct gss_svc_seq *seq = window_make(test, 1024);
	unsigned long *bits = seq->bits;
	struct gss_svc_seq_place place;

	gss_svc_seq_check(seq, 1000, &place);
	KUNIT_EXPECT_TRUE(test, gss_svc_seq_grow(seq, 1024));
	KUNIT_EXPECT_TRUE(test, gss_svc_seq_grow(seq, 512));
	KUNIT_EXPECT_TRUE(test, gss_svc_seq_grow(seq, W));
	KUNIT_EXPECT_EQ(test, 1024, seq->nbits);
	KUNIT_EXPECT_PTR_EQ(test, bits, seq->bits);
	KUNIT_EXPECT_EQ(test, 1000, seq->max);
	KUNIT_EXPECT_EQ(test, 0, seq->floor);
}

static void growth_restore_limit(void *limit)
{
	gss_svc_seq_kbytes = (uintptr_t)limit;
}

/* Leave room for @bytes, rounded up, until the test ends */
static void growth_limit(struct kunit *test, unsigned long bytes)
{
	void *limit = (void *)(uintptr_t)gss_svc_seq_kbytes;

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action(test, growth_restore_limit,
						  limit));
	gss_svc_seq_kbytes = DIV_ROUND_UP(gss_svc_seq_allocated() + bytes,
					  1024);
}

/* No memory left for it: the window is what it was */
static void window_does_not_grow_beyond_the_limit(struct kunit *test)
{
	struct gss_svc_seq *small = window_make(test, W);
	struct gss_svc_seq *large = window_make(test, 1024);
	struct gss_svc_seq small_was, large_was;
	struct gss_svc_seq_place place;
	long allocated;

	gss_svc_seq_check(small, 200, &place);
	gss_svc_seq_check(large, 200, &place);
	small_was = *small;
	large_was = *large;
	allocated = gss_svc_seq_allocated();
	growth_limit(test, 0);

	KUNIT_EXPECT_FALSE(test, gss_svc_seq_grow(small, 16384));
	KUNIT_EXPECT_FALSE(test, gss_svc_seq_grow(large, 16384));
	KUNIT_EXPECT_MEMEQ(test, &small_was, small, sizeof(small_was));
	KUNIT_EXPECT_MEMEQ(test, &large_was, large, sizeof(large_was));
	KUNIT_EXPECT_EQ(test, allocated, gss_svc_seq_allocated());

	KUNIT_EXPECT_EQ(test, GSS_SVC_SEQ_SEEN,
			gss_svc_seq_check(small, 200, &place));
	KUNIT_EXPECT_EQ(test, GSS_SVC_SEQ_LOW,
			gss_svc_seq_check(small, 200 - W, &place));
	KUNIT_EXPECT_EQ(test, GSS_SVC_SEQ_ACCEPTED,
			gss_svc_seq_check(large, 200 - W, &place));
}

/* As many as there is room for, and again when some went */
static void windows_share_what_the_limit_allows(struct kunit *test)
{
	const long bytes = GSS_SVC_SEQ_HISTORY / BITS_PER_BYTE;
	long before = gss_svc_seq_allocated();
	struct gss_svc_seq seqs[4];
	unsigned int i;

	growth_limit(test, 3 * bytes);
	for (i = 0; i < ARRAY_SIZE(seqs); i++) {
		gss_svc_seq_init(&seqs[i]);
		KUNIT_EXPECT_EQ(test, i < 3,
				gss_svc_seq_grow(&seqs[i], GSS_SVC_SEQ_HISTORY));
	}
	KUNIT_EXPECT_EQ(test, before + 3 * bytes, gss_svc_seq_allocated());

	gss_svc_seq_destroy(&seqs[0]);
	KUNIT_EXPECT_TRUE(test, gss_svc_seq_grow(&seqs[3], GSS_SVC_SEQ_HISTORY));
	for (i = 1; i < ARRAY_SIZE(seqs); i++)
		gss_svc_seq_destroy(&seqs[i]);
	KUNIT_EXPECT_EQ(test, before, gss_svc_seq_allocated());
}

/* How large a context's window is to be */

struct sizes_case {
	unsigned int	threads;
	u32		window;
	u32		history;
};

static const struct sizes_case sizes_cases[] = {
	{ 0,		1024,	8192 },
	{ 1,		1024,	8192 },
	{ 8,		1024,	8192 },
	{ 256,		1024,	8192 },
	{ 257,		2048,	16384 },
	{ 512,		2048,	16384 },
	{ 513,		4096,	32768 },
	{ 1024,		4096,	32768 },
	{ 1025,		8192,	65536 },
	{ 2048,		8192,	65536 },
	{ 2049,		8192,	65536 },
	{ UINT_MAX,	8192,	65536 },
};

static void sizes_desc(const struct sizes_case *param, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u threads", param->threads);
}

KUNIT_ARRAY_PARAM(sizes, sizes_cases, sizes_desc);

static void window_is_sized_by_the_threads(struct kunit *test)
{
	const struct sizes_case *param = test->param_value;
	u32 window, history;

	gss_svc_seq_sizes(param->threads, &window, &history);
	KUNIT_EXPECT_EQ(test, param->window, window);
	KUNIT_EXPECT_EQ(test, param->history, history);
}

static void window_is_settled_once(struct kunit *test)
{
	struct gss_svc_seq *seq = window_make(test, W);

	KUNIT_EXPECT_EQ(test, 2048, gss_svc_seq_prepare(seq, 2048, 16384));
	KUNIT_EXPECT_EQ(test, 16384, seq->nbits);
	KUNIT_EXPECT_EQ(test, 2048, gss_svc_seq_prepare(seq, 1024, 8192));
	KUNIT_EXPECT_EQ(test, 2048, gss_svc_seq_prepare(seq, 8192, 65536));
	KUNIT_EXPECT_EQ(test, 16384, seq->nbits);
}

/* Not more than there is, and not more later when there is more */
static void window_is_settled_for_what_there_is(struct kunit *test)
{
	struct gss_svc_seq *seq = window_make(test, W);

	growth_limit(test, 0);
	KUNIT_EXPECT_EQ(test, W, gss_svc_seq_prepare(seq, 1024, 8192));
	KUNIT_EXPECT_EQ(test, W, seq->nbits);

	growth_limit(test, 8192);
	KUNIT_EXPECT_EQ(test, W, gss_svc_seq_prepare(seq, 1024, 8192));
}

/* What it counts */
static void window_counts_its_verdicts(struct kunit *test)
{
	struct gss_svc_seq *seq = window_make(test, 1024);
	struct gss_svc_seq_stats stats;
	struct gss_svc_seq_place place;
	u32 num;

	for (num = 1; num <= 2000; num++)
		if (num != 1900 && num != 1950)
			gss_svc_seq_check(seq, num, &place);
	gss_svc_seq_check(seq, 1900, &place);
	gss_svc_seq_check(seq, 1950, &place);
	for (num = 970; num < 980; num++)
		gss_svc_seq_check(seq, num, &place);

	gss_svc_seq_read(seq, &stats);
	KUNIT_EXPECT_EQ(test, 2000, stats.accepted);
	KUNIT_EXPECT_EQ(test, 7, stats.low);
	KUNIT_EXPECT_EQ(test, 3, stats.seen);
	KUNIT_EXPECT_EQ(test, 100, stats.max_lag);
	KUNIT_EXPECT_EQ(test, 2000, stats.max);
	KUNIT_EXPECT_EQ(test, 1024, stats.nbits);
	KUNIT_EXPECT_EQ(test, 0, stats.window);
	KUNIT_EXPECT_EQ(test, 0, stats.floor);
}

/* Threads that share a window */

#define CROWD_SIZE	4
#define CROWD_ROUNDS	20
#define CROWD_NUMBERS	4096

struct crowd {
	struct gss_svc_seq	seq;
	int			(*work)(struct crowd *crowd, unsigned int nr);
	struct completion	start;
	struct completion	done;
	atomic_t		next;
	u8			accepted[CROWD_SIZE][CROWD_NUMBERS];
	unsigned int		grown[CROWD_SIZE];

	struct old_window	old;
	atomic_t		number;
	u64			time[CROWD_SIZE];
};

static int crowd_thread(void *data)
{
	struct crowd *crowd = data;
	unsigned int nr = atomic_fetch_inc(&crowd->next);

	/* All at once, as well as that can be had */
	wait_for_completion(&crowd->start);
	crowd->work(crowd, nr);
	kthread_complete_and_exit(&crowd->done, 0);
}

/* Let CROWD_SIZE threads do their work, and wait for the last */
static void crowd_run(struct kunit *test, struct crowd *crowd,
		      int (*work)(struct crowd *crowd, unsigned int nr))
{
	unsigned int i, started;

	crowd->work = work;
	init_completion(&crowd->start);
	init_completion(&crowd->done);
	atomic_set(&crowd->next, 0);
	memset(crowd->accepted, 0, sizeof(crowd->accepted));
	memset(crowd->grown, 0, sizeof(crowd->grown));
	for (started = 0; started < CROWD_SIZE; started++)
		if (IS_ERR(kthread_run(crowd_thread, crowd, "crowd/%u",
				       started)))
			break;
	complete_all(&crowd->start);
	for (i = 0; i < started; i++)
		wait_for_completion(&crowd->done);
	KUNIT_ASSERT_EQ(test, CROWD_SIZE, started);
}

static struct crowd *crowd_make(struct kunit *test)
{
	struct crowd *crowd = kunit_kzalloc(test, sizeof(*crowd), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, crowd);
	return crowd;
}

/* Each number once, in an order of the thread's own */
static int crowd_submit(struct crowd *crowd, unsigned int nr)
{
	const u32 strides[CROWD_SIZE] = { 1, 577, 1571, 4093 };
	struct gss_svc_seq_place place;
	u32 i, num;

	for (i = 0; i < CROWD_NUMBERS; i++) {
		num = i * strides[nr] % CROWD_NUMBERS;
		if (gss_svc_seq_check(&crowd->seq, num, &place) ==
		    GSS_SVC_SEQ_ACCEPTED)
			crowd->accepted[nr][num] = 1;
		/* One CPU alone would run them one after another */
		if (i % 1024 == 1023)
			usleep_range(1, 2);
	}
	return 0;
}

/* The last thread makes the window larger while the others use it */
static int crowd_submit_or_grow(struct crowd *crowd, unsigned int nr)
{
	u32 nbits;

	if (nr < CROWD_SIZE - 1)
		return crowd_submit(crowd, nr);
	for (nbits = crowd->seq.nbits; nbits <= GSS_SVC_SEQ_MAX; nbits <<= 1) {
		crowd->grown[nr] += gss_svc_seq_grow(&crowd->seq, nbits);
		usleep_range(1, 2);
	}
	return 0;
}

static unsigned int crowd_times_accepted(struct crowd *crowd, u32 num)
{
	unsigned int nr, times = 0;

	for (nr = 0; nr < CROWD_SIZE; nr++)
		times += crowd->accepted[nr][num];
	return times;
}

struct crowd_case {
	const char	*desc;
	u32		nbits;
	bool		grow;
	bool		all;	/* are in reach for all the time */
};

static const struct crowd_case crowd_cases[] = {
	{ "all in reach",			CROWD_NUMBERS,	false,	true },
	{ "all in reach, growing",		CROWD_NUMBERS,	true,	true },
	{ "more than there is room for",	W,		false,	false },
	{ "room for more and more",		W,		true,	false },
};

KUNIT_ARRAY_PARAM_DESC(crowd, crowd_cases, desc);

static void threads_get_a_number_accepted_once(struct kunit *test)
{
	const struct crowd_case *param = test->param_value;
	struct crowd *crowd = crowd_make(test);
	unsigned int round, times;
	u32 num;

	for (round = 0; round < CROWD_ROUNDS; round++) {
		gss_svc_seq_init(&crowd->seq);
		KUNIT_ASSERT_TRUE(test, gss_svc_seq_grow(&crowd->seq,
							 param->nbits));
		crowd_run(test, crowd, param->grow ? crowd_submit_or_grow :
						     crowd_submit);
		gss_svc_seq_destroy(&crowd->seq);

		for (num = 0; num < CROWD_NUMBERS; num++) {
			times = crowd_times_accepted(crowd, num);
			if (times > 1 || (param->all && !times)) {
				KUNIT_FAIL(test, "number %u, %u times", num,
					   times);
				return;
			}
		}
	}
}

/* As threads that serve one user: each has the next Call */
static int crowd_time_old(struct crowd *crowd, unsigned int nr)
{
	ktime_t begin = ktime_get();
	unsigned int i;

	for (i = 0; i < TIMING_CHECKS; i++)
		old_window_check(&crowd->old,
				 atomic_inc_return(&crowd->number));
	crowd->time[nr] = ktime_to_ns(ktime_sub(ktime_get(), begin));
	return 0;
}

static int crowd_time_new(struct crowd *crowd, unsigned int nr)
{
	struct gss_svc_seq_place place;
	ktime_t begin = ktime_get();
	unsigned int i;

	for (i = 0; i < TIMING_CHECKS; i++)
		gss_svc_seq_check(&crowd->seq,
				  atomic_inc_return(&crowd->number), &place);
	crowd->time[nr] = ktime_to_ns(ktime_sub(ktime_get(), begin));
	return 0;
}

static u64 crowd_time(struct kunit *test, struct crowd *crowd,
		      int (*work)(struct crowd *crowd, unsigned int nr))
{
	unsigned int nr;
	u64 sum = 0;

	atomic_set(&crowd->number, 0);
	crowd_run(test, crowd, work);
	for (nr = 0; nr < CROWD_SIZE; nr++)
		sum += crowd->time[nr];
	return sum;
}

static void threads_take_no_longer(struct kunit *test)
{
	struct crowd *crowd = crowd_make(test);
	const unsigned int percent = 110;
	struct timing timing;
	u64 was, is;

	timing_needs_a_plain_kernel(test);
	timing_init(&timing);
	do {
		old_window_init(&crowd->old);
		was = crowd_time(test, crowd, crowd_time_old);

		gss_svc_seq_init(&crowd->seq);
		KUNIT_ASSERT_TRUE(test, gss_svc_seq_grow(&crowd->seq,
							 GSS_SVC_SEQ_HISTORY));
		is = crowd_time(test, crowd, crowd_time_new);
		gss_svc_seq_destroy(&crowd->seq);
	} while (timing_more(&timing, was, is, percent));
	timing_judge(test, &timing, CROWD_SIZE * TIMING_CHECKS, percent);
}

static int crowd_grow(struct crowd *crowd, unsigned int nr)
{
	crowd->grown[nr] = gss_svc_seq_grow(&crowd->seq, GSS_SVC_SEQ_HISTORY);
	return 0;
}

/* As when INIT is sent again, and both are answered at once */
static void threads_grow_a_window_once(struct kunit *test)
{
	const long bytes = GSS_SVC_SEQ_HISTORY / BITS_PER_BYTE;
	struct crowd *crowd = crowd_make(test);
	long before = gss_svc_seq_allocated();
	unsigned int round, nr;

	for (round = 0; round < CROWD_ROUNDS; round++) {
		gss_svc_seq_init(&crowd->seq);
		crowd_run(test, crowd, crowd_grow);
		for (nr = 0; nr < CROWD_SIZE; nr++)
			KUNIT_EXPECT_TRUE(test, crowd->grown[nr]);
		KUNIT_EXPECT_EQ(test, before + bytes, gss_svc_seq_allocated());
		gss_svc_seq_destroy(&crowd->seq);
		KUNIT_EXPECT_EQ(test, before, gss_svc_seq_allocated());
	}
}

/* Each wants a window of another size */
static int crowd_prepare(struct crowd *crowd, unsigned int nr)
{
	u32 window = 1024 << nr;

	crowd->grown[nr] = gss_svc_seq_prepare(&crowd->seq, window, 8 * window);
	return 0;
}

static void threads_settle_a_window_once(struct kunit *test)
{
	struct crowd *crowd = crowd_make(test);
	long before = gss_svc_seq_allocated();
	unsigned int round, nr;

	for (round = 0; round < CROWD_ROUNDS; round++) {
		gss_svc_seq_init(&crowd->seq);
		crowd_run(test, crowd, crowd_prepare);
		for (nr = 0; nr < CROWD_SIZE; nr++)
			KUNIT_EXPECT_EQ(test, crowd->seq.window,
					crowd->grown[nr]);
		KUNIT_EXPECT_GE(test, crowd->seq.nbits, crowd->seq.window);
		KUNIT_EXPECT_EQ(test, before + crowd->seq.nbits / BITS_PER_BYTE,
				gss_svc_seq_allocated());
		gss_svc_seq_destroy(&crowd->seq);
	}
	KUNIT_EXPECT_EQ(test, before, gss_svc_seq_allocated());
}

static struct kunit_case window_cases[] = {
	KUNIT_CASE_PARAM(window_judges_by_the_table, table_gen_params),
	KUNIT_CASE(window_says_where_a_number_stood),
	KUNIT_CASE_PARAM(window_decides_as_before, stream_gen_params),
	KUNIT_CASE_PARAM(window_forgets_a_gap_and_no_more, gap_gen_params),
	KUNIT_CASE_PARAM(window_takes_no_longer, timing_gen_params),
	KUNIT_CASE(window_crosses_the_widest_gap_of_all),
	KUNIT_CASE_PARAM(window_agrees_with_an_oracle, size_gen_params),
	KUNIT_CASE_PARAM(window_starts_with_any_number, size_gen_params),
	KUNIT_CASE_PARAM(window_of_any_size_forgets_a_gap, size_gen_params),
	KUNIT_CASE(window_grows_and_accepts_nothing_twice),
	KUNIT_CASE(window_takes_along_what_it_knows),
	KUNIT_CASE(window_never_shrinks),
	KUNIT_CASE(window_does_not_grow_beyond_the_limit),
	KUNIT_CASE(windows_share_what_the_limit_allows),
	KUNIT_CASE_PARAM(threads_get_a_number_accepted_once, crowd_gen_params),
	KUNIT_CASE(threads_take_no_longer),
	KUNIT_CASE(threads_grow_a_window_once),
	KUNIT_CASE_PARAM(window_is_sized_by_the_threads, sizes_gen_params),
	KUNIT_CASE(window_is_settled_once),
	KUNIT_CASE(window_is_settled_for_what_there_is),
	KUNIT_CASE(window_counts_its_verdicts),
	KUNIT_CASE(threads_settle_a_window_once),
	{}
};

static struct kunit_suite window_suite = {
	.name		= "gss_svc_seq",
	.test_cases	= window_cases,
};

kunit_test_suite(window_suite);

MODULE_DESCRIPTION("KUnit tests for the server's RPCSEC_GSS sequence window");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
