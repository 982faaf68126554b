// SPDX-License-Identifier: GPL-2.0
/*
 * Set up contexts, and judge the Calls that come under them.
 */
#include <arpa/inet.h>
#include <string.h>

#include "gss.h"
#include "mech.h"
#include "window.h"

#define GSS_VERSION	1
#define MAXSEQ		0x80000000u
#define SERVICE_NONE	1
#define CONTEXTS	256
#define HANDLE_MOST	64

enum gss_proc {
	GSS_DATA,
	GSS_INIT,
	GSS_CONTINUE,
	GSS_DESTROY,
};

/* The body of a credential. */
struct credential {
	uint32_t	proc;
	uint32_t	seqno;
	uint32_t	service;
	const uint8_t	*handle;
	uint32_t	handle_len;
};

struct context {
	uint32_t	handle;		/* 0: this entry is free */
	bool		established;
	void		*mech;
	struct window	window;
};

struct gss_counts gss_counts;

static struct context contexts[CONTEXTS];
static uint32_t last_handle, window_size;
static unsigned long lose_every;

/**
 * gss_setup - how to serve
 * @window: to advertise, and to judge by
 * @lose: lose the Reply to every so manieth Call; 0: to none
 */
void gss_setup(uint32_t window, unsigned long lose)
{
	window_size = window;
	lose_every = lose;
}

static bool read_credential(struct reader *in, struct credential *cred)
{
	bool wanted = get_word(in) == GSS_VERSION;

	cred->proc = get_word(in);
	cred->seqno = get_word(in);
	cred->service = get_word(in);
	cred->handle = get_opaque(in, &cred->handle_len, HANDLE_MOST);
	return wanted && !in->bad;
}

static struct context *find(uint32_t handle)
{
	struct context *context;

	for (context = contexts; context < contexts + CONTEXTS; context++)
		if (context->handle == handle)
			return context;
	return NULL;
}

static struct context *find_context(const struct credential *cred)
{
	struct reader in = { .at = cred->handle, .left = cred->handle_len };
	uint32_t handle = get_word(&in);

	return handle && !in.left ? find(handle) : NULL;
}

static struct context *new_context(void)
{
	struct context *context = find(0);

	if (context) {
		memset(context, 0, sizeof(*context));
		context->handle = ++last_handle;
		window_open(&context->window, window_size);
	}
	return context;
}

static void forget(struct context *context)
{
	mech_close(&context->mech);
	window_close(&context->window);
	context->handle = 0;
}

static void put_number(struct writer *out, struct context *context, uint32_t number)
{
	uint32_t word = htonl(number);

	put_word(out, AUTH_GSS);
	mech_sign(context->mech, &word, sizeof(word), out);
}

/* The Reply of RFC 2203 5.2.3.1; with the last of them the client learns the window. */
static void put_init(struct writer *out, const struct call *call, struct context *context,
		     const struct mech_answer *answer)
{
	uint32_t handle = htonl(context->handle);

	reply_begin(out, call);
	if (answer->complete) {
		put_number(out, context, window_size);
	} else {
		put_word(out, AUTH_NONE);
		put_opaque(out, NULL, 0);
	}
	put_word(out, SUCCESS);
	put_opaque(out, &handle, sizeof(handle));
	put_word(out, answer->major);
	put_word(out, answer->minor);
	put_word(out, window_size);
	put_opaque(out, answer->token, answer->len);
}

static bool is_error(uint32_t major)
{
	return major & 0xffff0000u;
}

static enum outcome deny(const struct call *call, struct writer *out, enum auth_stat why)
{
	gss_counts.denied++;
	reply_deny(out, call, why);
	return ANSWER;
}

static enum outcome set_up(struct call *call, const struct credential *cred, struct writer *out)
{
	struct context *context = cred->proc == GSS_INIT ? new_context() : find_context(cred);
	static struct mech_answer answer;
	const uint8_t *token;
	uint32_t len;

	token = get_opaque(&call->args, &len, MECH_TOKEN);
	if (!context || context->established || !token) {
		if (context && cred->proc == GSS_INIT)
			forget(context);
		return deny(call, out, GSS_CREDPROBLEM);
	}
	mech_accept(&context->mech, token, len, &answer);
	put_init(out, call, context, &answer);
	if (is_error(answer.major)) {
		gss_counts.failed++;
		forget(context);
	} else if (answer.complete) {
		gss_counts.contexts++;
		context->established = true;
	}
	return ANSWER;
}

static bool lose(void)
{
	return lose_every && gss_counts.accepted % lose_every == 0;
}

/* Whether a Call passes, and is to be answered. */
static bool judge(struct context *context, uint32_t seqno)
{
	uint32_t lag = window_lag(&context->window, seqno);

	if (lag > gss_counts.max_lag)
		gss_counts.max_lag = lag;
	if (seqno > gss_counts.newest)
		gss_counts.newest = seqno;
	switch (window_judge(&context->window, seqno)) {
	case LOW:
		gss_counts.low++;
		return false;
	case SEEN:
		gss_counts.seen++;
		return false;
	default:
		gss_counts.accepted++;
	}
	if (!lose())
		return true;
	gss_counts.lost++;
	return false;
}

static enum outcome take_data(const struct call *call, const struct credential *cred,
			      struct writer *out)
{
	struct context *context = find_context(cred);

	if (!context || !context->established || call->verf_flavor != AUTH_GSS ||
	    !mech_verify(context->mech, call->header, call->header_len, call->verf, call->verf_len))
		return deny(call, out, GSS_CREDPROBLEM);
	if (cred->seqno >= MAXSEQ)
		return deny(call, out, GSS_CTXPROBLEM);
	if (!judge(context, cred->seqno))
		return DROP;
	if (cred->service != SERVICE_NONE)
		return deny(call, out, AUTH_BADCRED);
	reply_begin(out, call);
	put_number(out, context, cred->seqno);
	if (cred->proc == GSS_DATA)
		return SERVE;
	put_word(out, SUCCESS);
	forget(context);
	return ANSWER;
}

/**
 * gss_call - judge a Call with the flavour RPCSEC_GSS
 * @call: the Call
 * @out: where its Reply goes
 *
 * Return: what is to become of it.
 */
enum outcome gss_call(struct call *call, struct writer *out)
{
	struct credential cred;

	if (!read_credential(&call->cred, &cred))
		return deny(call, out, AUTH_BADCRED);
	switch (cred.proc) {
	case GSS_INIT:
	case GSS_CONTINUE:
		return set_up(call, &cred, out);
	case GSS_DATA:
	case GSS_DESTROY:
		return take_data(call, &cred, out);
	default:
		return deny(call, out, AUTH_BADCRED);
	}
}
