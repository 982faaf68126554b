// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the way of a Call through the RPC client
 *
 * The transport's server and the credential are the test's own, so that
 * each can fail where and as often as a case wants it to.
 */

#include <kunit/test.h>
#include <linux/cred.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/xprt.h>

#include "fake_xprt.h"

#define TEST_RESULT	0x600dcafe

/* What the server does with a transmission */
enum test_action {
	TEST_REPLY,		/* answer it */
	TEST_IGNORE,		/* leave it unanswered */
	TEST_LOSE,		/* lose it together with the connection */
	TEST_PART,		/* take a part of it, then wait for room */
	TEST_PART_LOSE,		/* take a part of it, then lose the connection */
};

/* Cases list at most this many; the last stands for all that follow */
#define TEST_ACTIONS	3u

struct call_test {
	struct fake_server	server;
	struct rpc_cred		cred;

	/* What the credential is to do */
	int			marshal_error;
	unsigned int		marshal_failures;
	unsigned int		revoke_at;	/* which check of the window */
	bool			late_cookie;	/* see test_need_reencode() */

	/* What the transport is to do */
	const enum test_action	*actions;	/* of successive transmissions */
	unsigned int		unprepared;	/* which encoding */

	/* What they were asked to do */
	unsigned int		refreshed;
	unsigned int		marshalled;
	unsigned int		checked;
	unsigned int		prepared;
	unsigned int		sent;

	/* State of the request when the last transmission began */
	unsigned int		retries;
	u32			bytes_sent;
};

/* The credential */

static struct call_test *call_test_of(struct rpc_task *task)
{
	return container_of(task->tk_rqstp->rq_cred, struct call_test, cred);
}

static int test_refresh(struct rpc_task *task)
{
	struct call_test *ct = call_test_of(task);

	ct->refreshed++;
	set_bit(RPCAUTH_CRED_UPTODATE, &ct->cred.cr_flags);
	return 0;
}

static int test_marshal(struct rpc_task *task, struct xdr_stream *xdr)
{
	struct call_test *ct = call_test_of(task);
	__be32 *p;

	if (ct->marshalled++ < ct->marshal_failures)
		return ct->marshal_error;

	p = xdr_reserve_space(xdr, 4 * XDR_UNIT);
	if (!p)
		return -EMSGSIZE;
	*p++ = rpc_auth_null;
	*p++ = xdr_zero;
	*p++ = rpc_auth_null;
	*p = xdr_zero;
	return 0;
}

static bool test_need_reencode(struct rpc_task *task)
{
	struct call_test *ct = call_test_of(task);
	struct rpc_rqst *rqst = task->tk_rqstp;

	if (++ct->checked != ct->revoke_at)
		return false;
	/*
	 * A task that sets a connection up takes a note of the cookie
	 * while the connection may be established under its feet.
	 */
	if (ct->late_cookie)
		rqst->rq_connect_cookie = rqst->rq_xprt->connect_cookie;
	return true;
}

static int test_validate(struct rpc_task *task, struct xdr_stream *xdr)
{
	return xdr_inline_decode(xdr, 2 * XDR_UNIT) ? 0 : -EIO;
}

static const struct rpc_credops test_credops = {
	.cr_name		= "rpc_call_kunit",
	.crrefresh		= test_refresh,
	.crmarshal		= test_marshal,
	.crvalidate		= test_validate,
	.crwrap_req		= rpcauth_wrap_req_encode,
	.crunwrap_resp		= rpcauth_unwrap_resp_decode,
	.crneed_reencode	= test_need_reencode,
};

/* The server */

static void test_reply(struct rpc_rqst *rqst)
{
	static const __be32 reply[] = {
		rpc_reply, rpc_msg_accepted, rpc_auth_null, xdr_zero,
		rpc_success, cpu_to_be32(TEST_RESULT),
	};

	fake_server_reply(rqst, reply, ARRAY_SIZE(reply));
}

static int test_send(struct fake_server *server, struct rpc_rqst *rqst)
{
	struct call_test *ct = container_of(server, struct call_test, server);
	enum test_action action = TEST_REPLY;

	if (ct->actions)
		action = ct->actions[min(ct->sent, TEST_ACTIONS - 1)];
	ct->sent++;
	ct->retries = rqst->rq_retries;
	ct->bytes_sent = rqst->rq_bytes_sent;

	switch (action) {
	case TEST_REPLY:
		test_reply(rqst);
		return 0;
	case TEST_IGNORE:
		return 0;
	case TEST_LOSE:
		fake_server_disconnect(server);
		return 0;
	case TEST_PART_LOSE:
		fake_server_disconnect(server);
		fallthrough;
	case TEST_PART:
		rqst->rq_bytes_sent = XDR_UNIT;
		return -EAGAIN;
	}
	return -EIO;
}

static int test_prepare(struct fake_server *server, struct rpc_rqst *rqst,
			struct xdr_buf *buf)
{
	struct call_test *ct = container_of(server, struct call_test, server);

	if (buf == &rqst->rq_snd_buf && ++ct->prepared == ct->unprepared)
		return -ENOMEM;
	return 0;
}

static int call_test_init(struct kunit *test)
{
	struct auth_cred acred = { .cred = current_cred() };
	struct call_test *ct;

	ct = kunit_kzalloc(test, sizeof(*ct), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ct);
	test->priv = ct;

	ct->server.send = test_send;
	ct->server.prepare = test_prepare;
	KUNIT_ASSERT_EQ(test, 0, fake_server_start(&ct->server));
	rpcauth_init_cred(&ct->cred, &acred, ct->server.clnt->cl_auth,
			  &test_credops);
	return 0;
}

static void call_test_exit(struct kunit *test)
{
	struct call_test *ct = test->priv;

	if (!ct)
		return;
	fake_server_stop(&ct->server);
	put_cred(ct->cred.cr_cred);
}

struct marshal_case {
	const char	*desc;
	int		error;
	unsigned int	failures;
	int		expected;
	unsigned int	marshalled;
	unsigned int	refreshed;
};

static const struct marshal_case marshal_cases[] = {
	{ "no memory once",	-ENOMEM,	1, 0,		 2, 1 },
	{ "no memory twice",	-ENOMEM,	2, 0,		 3, 1 },
	{ "busy once",		-EAGAIN,	1, 0,		 2, 1 },
	{ "key expired once",	-EKEYEXPIRED,	1, 0,		 2, 2 },
	/* tk_cred_retry bounds this one */
	{ "key stays expired",	-EKEYEXPIRED,	9, -EKEYEXPIRED, 3, 3 },
	{ "does not fit",	-EMSGSIZE,	9, -EMSGSIZE,	 1, 1 },
	{ "broken",		-EIO,		9, -EIO,	 1, 1 },
};

KUNIT_ARRAY_PARAM_DESC(marshal, marshal_cases, desc);

/* What call_encode() says about an error is what happens */
static void credential_does_not_encode(struct kunit *test)
{
	const struct marshal_case *param = test->param_value;
	struct call_test *ct = test->priv;
	u32 result = 0;
	int status;

	ct->marshal_error = param->error;
	ct->marshal_failures = param->failures;

	status = fake_server_call(&ct->server, &ct->cred, 0, &result, 0);

	KUNIT_EXPECT_EQ(test, param->expected, status);
	KUNIT_EXPECT_EQ(test, param->marshalled, ct->marshalled);
	KUNIT_EXPECT_EQ(test, param->refreshed, ct->refreshed);
	KUNIT_EXPECT_EQ(test, param->expected ? 0 : 1, ct->sent);
	KUNIT_EXPECT_EQ(test, param->expected ? 0 : TEST_RESULT, result);
}

struct unsent_case {
	const char		*desc;
	enum test_action	actions[TEST_ACTIONS];
	unsigned int		revoke_at;
	unsigned int		unprepared;
	bool			late_cookie;
	int			flags;

	unsigned int		marshalled;
	unsigned int		checked;
	unsigned int		sent;
	unsigned int		retries;
};

static const struct unsent_case unsent_cases[] = {
	{
		.desc		= "control: unanswered once",
		.actions	= { TEST_IGNORE, TEST_REPLY },
		.marshalled	= 2, .checked = 2, .sent = 2, .retries = 1,
	}, {
		.desc		= "first transmission behind the window",
		.actions	= { TEST_REPLY },
		.revoke_at	= 1,
		.marshalled	= 2, .checked = 2, .sent = 1,
	}, {
		.desc		= "retransmission behind the window",
		.actions	= { TEST_IGNORE, TEST_REPLY },
		.revoke_at	= 2,
		.marshalled	= 3, .checked = 3, .sent = 2, .retries = 1,
	}, {
		.desc		= "behind the window after a reconnect",
		.actions	= { TEST_LOSE, TEST_REPLY },
		.revoke_at	= 2,
		.flags		= RPC_TASK_NO_RETRANS_TIMEOUT,
		.marshalled	= 3, .checked = 3, .sent = 2,
	}, {
		.desc		= "behind the window after a race with the reconnect",
		.actions	= { TEST_LOSE, TEST_REPLY },
		.revoke_at	= 2,
		.late_cookie	= true,
		.flags		= RPC_TASK_NO_RETRANS_TIMEOUT,
		.marshalled	= 3, .checked = 3, .sent = 2,
	}, {
		.desc		= "no memory to queue the first transmission",
		.actions	= { TEST_REPLY },
		.unprepared	= 1,
		.marshalled	= 2, .checked = 1, .sent = 1,
	}, {
		.desc		= "no memory to queue a retransmission",
		.actions	= { TEST_IGNORE, TEST_REPLY },
		.unprepared	= 2,
		.marshalled	= 3, .checked = 2, .sent = 2, .retries = 1,
	},
};

KUNIT_ARRAY_PARAM_DESC(unsent, unsent_cases, desc);

/* A request that did not leave is encoded and sent again, without a wait */
static void request_leaves_the_queue_unsent(struct kunit *test)
{
	const struct unsent_case *param = test->param_value;
	struct call_test *ct = test->priv;
	u32 result = 0;
	int status;

	ct->actions = param->actions;
	ct->revoke_at = param->revoke_at;
	ct->unprepared = param->unprepared;
	ct->late_cookie = param->late_cookie;
	/* The first retransmission comes soon, no other before the limit */
	if (param->retries)
		ct->server.clnt->cl_timeout_default = (struct rpc_timeout) {
			.to_initval	= HZ,
			.to_increment	= 100 * HZ,
			.to_maxval	= 600 * HZ,
			.to_retries	= 5,
		};

	status = fake_server_call(&ct->server, &ct->cred, 0, &result,
				  param->flags);

	KUNIT_EXPECT_EQ(test, 0, status);
	KUNIT_EXPECT_EQ(test, TEST_RESULT, result);
	KUNIT_EXPECT_EQ(test, param->marshalled, ct->marshalled);
	KUNIT_EXPECT_EQ(test, param->checked, ct->checked);
	KUNIT_EXPECT_EQ(test, param->sent, ct->sent);
	KUNIT_EXPECT_EQ(test, param->retries, ct->retries);
}

struct part_case {
	const char		*desc;
	enum test_action	actions[TEST_ACTIONS];
	unsigned int		revoke_at;

	unsigned int		marshalled;
	unsigned int		checked;
	u32			bytes_sent;
};

static const struct part_case part_cases[] = {
	{
		.desc		= "control: room for the rest",
		.actions	= { TEST_PART, TEST_REPLY },
		.marshalled	= 1, .checked = 1, .bytes_sent = XDR_UNIT,
	}, {
		.desc		= "reconnected, still in the window",
		.actions	= { TEST_PART_LOSE, TEST_REPLY },
		.marshalled	= 1, .checked = 2,
	}, {
		.desc		= "reconnected, behind the window",
		.actions	= { TEST_PART_LOSE, TEST_REPLY },
		.revoke_at	= 2,
		.marshalled	= 2, .checked = 3,
	},
};

KUNIT_ARRAY_PARAM_DESC(part, part_cases, desc);

/* The part that a lost connection took was not sent */
static void request_leaves_in_part(struct kunit *test)
{
	const struct part_case *param = test->param_value;
	struct call_test *ct = test->priv;
	u32 result = 0;
	int status;

	ct->actions = param->actions;
	ct->revoke_at = param->revoke_at;

	status = fake_server_call(&ct->server, &ct->cred, 0, &result, 0);

	KUNIT_EXPECT_EQ(test, 0, status);
	KUNIT_EXPECT_EQ(test, TEST_RESULT, result);
	KUNIT_EXPECT_EQ(test, 2, ct->sent);
	KUNIT_EXPECT_EQ(test, param->marshalled, ct->marshalled);
	KUNIT_EXPECT_EQ(test, param->checked, ct->checked);
	KUNIT_EXPECT_EQ(test, param->bytes_sent, ct->bytes_sent);
}

static struct kunit_case call_test_cases[] = {
	KUNIT_CASE_PARAM(credential_does_not_encode, marshal_gen_params),
	KUNIT_CASE_PARAM(request_leaves_the_queue_unsent, unsent_gen_params),
	KUNIT_CASE_PARAM(request_leaves_in_part, part_gen_params),
	{}
};

static struct kunit_suite call_test_suite = {
	.name		= "rpc_call",
	.init		= call_test_init,
	.exit		= call_test_exit,
	.test_cases	= call_test_cases,
};

kunit_test_suite(call_test_suite);

MODULE_DESCRIPTION("KUnit tests for the way of a Call through the RPC client");
MODULE_LICENSE("GPL");
