// SPDX-License-Identifier: GPL-2.0
/*
 * A transport whose server is the test itself, see fake_xprt.h
 */

#include <linux/completion.h>
#include <linux/in.h>
#include <linux/module.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/xprt.h>
#include <net/net_namespace.h>

#include "fake_xprt.h"

/* A number that no real transport uses */
#define FAKE_XPRT_IDENT		0x66616b65

/* Seconds after which a Call counts as one that never ends */
#define FAKE_PATIENCE		8

#define FAKE_PROGRAM		0x20667365
#define FAKE_VERSION		1

struct fake_xprt {
	struct rpc_xprt		xprt;
	struct fake_server	*server;
};

/* The server whose client is being created; creation is serialised */
static struct fake_server *fake_server_creating;
static DEFINE_MUTEX(fake_server_mutex);

static struct fake_server *fake_server_of(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct fake_xprt, xprt)->server;
}

static void fake_xprt_connect(struct rpc_xprt *xprt, struct rpc_task *task)
{
	fake_server_of(xprt)->connects++;

	spin_lock(&xprt->transport_lock);
	xprt->connect_cookie++;
	xprt_set_connected(xprt);
	xprt_clear_connecting(xprt);
	xprt_wake_pending_tasks(xprt, -EAGAIN);
	spin_unlock(&xprt->transport_lock);
}

static int fake_xprt_prepare_request(struct rpc_rqst *rqst, struct xdr_buf *buf)
{
	struct fake_server *server = fake_server_of(rqst->rq_xprt);

	return server->prepare ? server->prepare(server, rqst, buf) : 0;
}

static int fake_xprt_send_request(struct rpc_rqst *rqst)
{
	struct fake_server *server = fake_server_of(rqst->rq_xprt);

	return server->send(server, rqst);
}

static void fake_xprt_close(struct rpc_xprt *xprt)
{
	xprt_disconnect_done(xprt);
}

static void fake_xprt_destroy(struct rpc_xprt *xprt)
{
	xprt_free(xprt);
	module_put(THIS_MODULE);
}

static void fake_xprt_set_port(struct rpc_xprt *xprt, unsigned short port)
{
}

static void fake_xprt_rpcbind(struct rpc_task *task)
{
	xprt_set_bound(task->tk_xprt);
}

static const struct rpc_xprt_ops fake_xprt_ops = {
	.reserve_xprt		= xprt_reserve_xprt,
	.release_xprt		= xprt_release_xprt,
	.alloc_slot		= xprt_alloc_slot,
	.free_slot		= xprt_free_slot,
	.rpcbind		= fake_xprt_rpcbind,
	.set_port		= fake_xprt_set_port,
	.connect		= fake_xprt_connect,
	.buf_alloc		= rpc_malloc,
	.buf_free		= rpc_free,
	.prepare_request	= fake_xprt_prepare_request,
	.send_request		= fake_xprt_send_request,
	.wait_for_reply_request	= xprt_wait_for_reply_request_def,
	.close			= fake_xprt_close,
	.destroy		= fake_xprt_destroy,
};

static struct rpc_xprt *fake_xprt_setup(struct xprt_create *args)
{
	struct fake_server *server = fake_server_creating;
	struct fake_xprt *fake;
	struct rpc_xprt *xprt;
	int i;

	xprt = xprt_alloc(args->net, sizeof(*fake), 2, 2);
	if (!xprt)
		return ERR_PTR(-ENOMEM);
	if (!try_module_get(THIS_MODULE)) {
		xprt_free(xprt);
		return ERR_PTR(-EINVAL);
	}

	fake = container_of(xprt, struct fake_xprt, xprt);
	fake->server = server;
	xprt->ops = &fake_xprt_ops;
	xprt->timeout = &server->timeout;
	xprt->max_payload = PAGE_SIZE;
	xprt->prot = IPPROTO_TCP;
	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	xprt->addrlen = args->addrlen;
	for (i = 0; i < RPC_DISPLAY_MAX; i++)
		xprt->address_strings[i] = "fake";
	xprt_set_bound(xprt);
	return xprt;
}

static struct xprt_class fake_xprt_class = {
	.list	= LIST_HEAD_INIT(fake_xprt_class.list),
	.name	= "fake",
	.owner	= THIS_MODULE,
	.ident	= FAKE_XPRT_IDENT,
	.setup	= fake_xprt_setup,
	.netid	= { "" },
};

/* The program: one procedure, which echoes a word */

static void fake_encode(struct rpc_rqst *rqst, struct xdr_stream *xdr,
			const void *obj)
{
	const u32 *arg = obj;

	xdr_stream_encode_u32(xdr, *arg);
}

static int fake_decode(struct rpc_rqst *rqst, struct xdr_stream *xdr, void *obj)
{
	return xdr_stream_decode_u32(xdr, obj);
}

static const struct rpc_procinfo fake_procs[] = {
	[FAKE_PROC_ECHO] = {
		.p_proc		= FAKE_PROC_ECHO,
		.p_encode	= fake_encode,
		.p_decode	= fake_decode,
		.p_arglen	= 1,
		.p_replen	= 1,
		.p_statidx	= FAKE_PROC_ECHO,
		.p_name		= "ECHO",
	},
};

static unsigned int fake_counts[ARRAY_SIZE(fake_procs)];

static const struct rpc_version fake_version = {
	.number		= FAKE_VERSION,
	.nrprocs	= ARRAY_SIZE(fake_procs),
	.procs		= fake_procs,
	.counts		= fake_counts,
};

static const struct rpc_version *fake_versions[] = {
	[FAKE_VERSION]	= &fake_version,
};

static struct rpc_stat fake_stats;

static const struct rpc_program fake_program = {
	.name		= "fake",
	.number		= FAKE_PROGRAM,
	.nrvers		= ARRAY_SIZE(fake_versions),
	.version	= fake_versions,
	.stats		= &fake_stats,
};

/**
 * fake_server_start - Create an RPC client that talks to @server
 * @server: the test's server, with ->send and perhaps ->timeout set
 *
 * Context: Process context, may sleep.
 *
 * Return: 0, with @server->clnt set to a client with the AUTH_NULL flavor,
 * or a negative errno.
 */
int fake_server_start(struct fake_server *server)
{
	struct sockaddr_in address = {
		.sin_family		= AF_INET,
		.sin_addr.s_addr	= htonl(INADDR_LOOPBACK),
	};
	struct rpc_create_args args = {
		.net		= &init_net,
		.protocol	= FAKE_XPRT_IDENT,
		.address	= (struct sockaddr *)&address,
		.addrsize	= sizeof(address),
		.timeout	= &server->timeout,
		.servername	= "fake",
		.program	= &fake_program,
		.version	= FAKE_VERSION,
		.authflavor	= RPC_AUTH_NULL,
		.cred		= current_cred(),
		.flags		= RPC_CLNT_CREATE_NOPING |
				  RPC_CLNT_CREATE_HARDRTRY |
				  RPC_CLNT_CREATE_QUIET,
	};
	struct rpc_clnt *clnt;

	if (!server->timeout.to_initval)
		server->timeout = (struct rpc_timeout) {
			.to_initval	= 60 * HZ,
			.to_maxval	= 60 * HZ,
			.to_retries	= 5,
		};

	mutex_lock(&fake_server_mutex);
	fake_server_creating = server;
	clnt = rpc_create(&args);
	fake_server_creating = NULL;
	mutex_unlock(&fake_server_mutex);

	if (IS_ERR(clnt))
		return PTR_ERR(clnt);
	server->clnt = clnt;
	return 0;
}
EXPORT_SYMBOL_GPL(fake_server_start);

/**
 * fake_server_stop - Shut the client of @server down
 * @server: the test's server, started or not
 *
 * Context: Process context, may sleep.
 */
void fake_server_stop(struct fake_server *server)
{
	if (!server->clnt)
		return;
	rpc_shutdown_client(server->clnt);
	server->clnt = NULL;
	/* A task drops its credential after its client has forgotten it */
	fake_server_flush();
}
EXPORT_SYMBOL_GPL(fake_server_stop);

/**
 * fake_server_reply - Answer a Call
 * @rqst: the Call, as ->send() got it
 * @reply: what follows the Reply's XID
 * @words: number of XDR words in @reply
 *
 * Context: Any that may take the transport's queue lock; ->send() may.
 */
void fake_server_reply(struct rpc_rqst *rqst, const __be32 *reply,
		       unsigned int words)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct kvec *head = &rqst->rq_private_buf.head[0];
	size_t len = (words + 1) * XDR_UNIT;
	__be32 *p = head->iov_base;

	spin_lock(&xprt->queue_lock);
	if (xprt_lookup_rqst(xprt, rqst->rq_xid) == rqst &&
	    !WARN_ON_ONCE(len > head->iov_len)) {
		*p++ = rqst->rq_xid;
		memcpy(p, reply, words * XDR_UNIT);
		xprt_complete_rqst(rqst->rq_task, len);
	}
	spin_unlock(&xprt->queue_lock);
}
EXPORT_SYMBOL_GPL(fake_server_reply);

/**
 * fake_server_disconnect - Lose the connection
 * @server: the test's server
 *
 * Context: Any that may take the transport's lock; ->send() may.
 */
void fake_server_disconnect(struct fake_server *server)
{
	struct rpc_xprt *xprt;

	rcu_read_lock();
	xprt = rcu_dereference(server->clnt->cl_xprt);
	xprt->connect_cookie++;
	xprt_disconnect_done(xprt);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(fake_server_disconnect);

static void fake_call_done(struct rpc_task *task, void *calldata)
{
	complete(calldata);
}

static const struct rpc_call_ops fake_call_ops = {
	.rpc_call_done	= fake_call_done,
};

/**
 * fake_server_call - Call the procedure ECHO and wait for its Reply
 * @server: the test's server
 * @cred: the credential to use
 * @arg: the word to send
 * @result: where to put the word that came back
 * @flags: further RPC_TASK flags
 *
 * Context: Process context, may sleep.
 *
 * Return: 0, or the negative errno that the task ended with, or %-ETIME
 * when it had to be killed because it made no progress.
 */
int fake_server_call(struct fake_server *server, struct rpc_cred *cred,
		     u32 arg, u32 *result, int flags)
{
	struct rpc_message msg = {
		.rpc_proc	= &fake_procs[FAKE_PROC_ECHO],
		.rpc_argp	= &arg,
		.rpc_resp	= result,
	};
	DECLARE_COMPLETION_ONSTACK(done);
	struct rpc_task_setup setup = {
		.rpc_client	= server->clnt,
		.rpc_message	= &msg,
		.rpc_op_cred	= cred,
		.callback_ops	= &fake_call_ops,
		.callback_data	= &done,
		.flags		= flags | RPC_TASK_ASYNC,
	};
	struct rpc_task *task;
	int status = -ETIME;

	task = rpc_run_task(&setup);
	if (IS_ERR(task))
		return PTR_ERR(task);
	if (wait_for_completion_timeout(&done, FAKE_PATIENCE * HZ)) {
		status = task->tk_status;
	} else {
		rpc_killall_tasks(server->clnt);
		wait_for_completion(&done);
	}
	rpc_put_task(task);
	/* so that a put of @cred that follows is the last one */
	fake_server_flush();
	return status;
}
EXPORT_SYMBOL_GPL(fake_server_call);

/**
 * fake_server_flush - Run every asynchronous task that can run
 *
 * A task that the server answers at once has ended when this returns.
 *
 * Context: Process context, may sleep.
 */
void fake_server_flush(void)
{
	flush_workqueue(rpciod_workqueue);
}
EXPORT_SYMBOL_GPL(fake_server_flush);

static int __init fake_xprt_init(void)
{
	return xprt_register_transport(&fake_xprt_class);
}

static void __exit fake_xprt_exit(void)
{
	xprt_unregister_transport(&fake_xprt_class);
}

module_init(fake_xprt_init);
module_exit(fake_xprt_exit);

MODULE_DESCRIPTION("RPC transport whose server is a KUnit test");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
