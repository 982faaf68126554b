// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the reset of a socket transport
 *
 * The transport is a real one whose socket was never connected. Its error
 * worker is replaced by one that the test controls.
 */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/file.h>
#include <linux/in.h>
#include <linux/net.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/sched.h>
#include <linux/sunrpc/xprtsock.h>
#include <net/net_namespace.h>
#include <net/sock.h>

/* Whatever takes longer than this, in jiffies, never happens */
#define TEST_LIMIT	(8 * HZ)

/* Time that a reset gets, in jiffies, to overtake the error worker */
#define TEST_HEADWAY	(HZ / 4)

struct reset_test {
	struct rpc_clnt		*clnt;
	struct sock_xprt	*transport;

	/* The error worker of the test, and what it saw */
	struct completion	started;
	bool			overtaken;
};

static struct reset_test *reset_test_current;

static const struct rpc_version test_version = {
	.number		= 1,
};

static const struct rpc_version *test_versions[] = {
	[1]		= &test_version,
};

static struct rpc_stat test_stats;

static const struct rpc_program test_program = {
	.name		= "xprtsock_kunit",
	.number		= 0x20667366,
	.nrvers		= ARRAY_SIZE(test_versions),
	.version	= test_versions,
	.stats		= &test_stats,
};

/* Give the transport a socket, as if it had been connected */
static int reset_test_open(struct sock_xprt *transport)
{
	struct rpc_xprt *xprt = &transport->xprt;
	struct socket *sock;
	struct file *filp;
	int err;

	err = sock_create_kern(xprt->xprt_net, PF_INET, SOCK_STREAM,
			       IPPROTO_TCP, &sock);
	if (err)
		return err;
	filp = sock_alloc_file(sock, O_NONBLOCK, NULL);
	if (IS_ERR(filp))
		return PTR_ERR(filp);

	transport->old_data_ready = sock->sk->sk_data_ready;
	transport->old_state_change = sock->sk->sk_state_change;
	transport->old_write_space = sock->sk->sk_write_space;
	transport->old_error_report = sock->sk->sk_error_report;
	transport->file = filp;
	transport->sock = sock;
	transport->inet = sock->sk;
	xprt_set_connected(xprt);
	return 0;
}

static int reset_test_init(struct kunit *test)
{
	struct sockaddr_in address = {
		.sin_family		= AF_INET,
		.sin_addr.s_addr	= htonl(INADDR_LOOPBACK),
		.sin_port		= htons(9),
	};
	struct rpc_create_args args = {
		.net		= &init_net,
		.protocol	= XPRT_TRANSPORT_TCP,
		.address	= (struct sockaddr *)&address,
		.addrsize	= sizeof(address),
		.servername	= "xprtsock_kunit",
		.program	= &test_program,
		.version	= 1,
		.authflavor	= RPC_AUTH_NULL,
		.cred		= current_cred(),
		.flags		= RPC_CLNT_CREATE_NOPING |
				  RPC_CLNT_CREATE_QUIET,
	};
	struct reset_test *rt;
	struct rpc_xprt *xprt;

	rt = kunit_kzalloc(test, sizeof(*rt), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rt);
	init_completion(&rt->started);
	rt->clnt = rpc_create(&args);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, rt->clnt);
	test->priv = rt;

	rcu_read_lock();
	xprt = rcu_dereference(rt->clnt->cl_xprt);
	rcu_read_unlock();
	rt->transport = container_of(xprt, struct sock_xprt, xprt);
	KUNIT_ASSERT_EQ(test, 0, reset_test_open(rt->transport));
	reset_test_current = rt;
	return 0;
}

static void reset_test_exit(struct kunit *test)
{
	struct reset_test *rt = test->priv;

	if (rt)
		rpc_shutdown_client(rt->clnt);
	reset_test_current = NULL;
}

static bool reset_test_done(struct rpc_xprt *xprt)
{
	return !test_bit(XPRT_CONNECTED, &xprt->state);
}

/* Wait until the transport has been reset, for @limit jiffies at most */
static bool reset_test_wait(struct rpc_xprt *xprt, unsigned long limit)
{
	unsigned long end = jiffies + limit;

	while (!reset_test_done(xprt) && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
	return reset_test_done(xprt);
}

/* The end of an error worker that was preempted with a flag in its hands */
static void test_error_worker(struct work_struct *work)
{
	struct reset_test *rt = reset_test_current;
	struct rpc_xprt *xprt = &rt->transport->xprt;

	complete(&rt->started);
	rt->overtaken = reset_test_wait(xprt, TEST_HEADWAY);
	xprt_force_disconnect(xprt);
}

/* What is asked of the old connection must not befall the next one */
static void reset_waits_for_the_error_worker(struct kunit *test)
{
	struct reset_test *rt = test->priv;
	struct sock_xprt *transport = rt->transport;
	struct rpc_xprt *xprt = &transport->xprt;

	INIT_WORK(&transport->error_worker, test_error_worker);
	queue_work(xprtiod_workqueue, &transport->error_worker);
	KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&rt->started,
							     TEST_LIMIT));

	xprt_force_disconnect(xprt);

	KUNIT_EXPECT_TRUE(test, reset_test_wait(xprt, TEST_LIMIT));
	flush_work(&transport->error_worker);
	flush_work(&xprt->task_cleanup);
	KUNIT_EXPECT_FALSE(test, rt->overtaken);
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_CLOSE_WAIT, &xprt->state));
	KUNIT_EXPECT_NULL(test, transport->sock);
}

static struct kunit_case reset_test_cases[] = {
	KUNIT_CASE(reset_waits_for_the_error_worker),
	{}
};

static struct kunit_suite reset_test_suite = {
	.name		= "xprtsock",
	.init		= reset_test_init,
	.exit		= reset_test_exit,
	.test_cases	= reset_test_cases,
};

kunit_test_suite(reset_test_suite);

MODULE_DESCRIPTION("KUnit tests for the reset of socket transports");
MODULE_LICENSE("GPL");
