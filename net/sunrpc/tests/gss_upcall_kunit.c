// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for upcalls to gssd and its answers
 *
 * The tests are gssd: they open the pipe of an RPC client in rpc_pipefs,
 * read what credentials ask for, and answer. The credentials are those of
 * uid 0, for the machine ("*" is its principal) and for the user, and are
 * looked up by threads, as in a system call, or refreshed by asynchronous
 * tasks. An answer says for which uid it is, and no more. So the handle of
 * each context is the principal that the upcall asked for, and the test
 * compares it with that of the credential where the context ended up. The
 * mechanism is a toy, and nothing is sent to a server.
 */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/in.h>
#include <linux/inet.h>
#include <linux/kthread.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sunrpc/auth_gss.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/gss_api.h>
#include <linux/sunrpc/rpc_pipe_fs.h>
#include <linux/sunrpc/xprtsock.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#define TEST_MACHINE	"*"
#define TEST_USER	"user"		/* what a user's upcall asks for */
#define TEST_USERS	3
#define TEST_TEXT	256
/* Milliseconds: long enough for an upcall to arrive, if one is to come */
#define TEST_QUIET	200
/* Milliseconds: whatever has to happen has happened by then */
#define TEST_LIMIT	5000

/* Pseudoflavors of the toy mechanism, one per service */
enum {
	TEST_FLAVOR_NONE	= 0x746f7900,
	TEST_FLAVOR_INTEGRITY,
};

enum {
	TEST_NONE,
	TEST_INTEGRITY,
	TEST_SERVICES,
};

struct upcall_test;

/* Who asks for a credential */
struct upcall_user {
	struct rpc_auth		*auth;
	const char		*principal;
	struct rpc_cred		*cred;		/* or an error */
	struct completion	done;
	struct task_struct	*thread;
};

struct upcall_test {
	struct vfsmount		*mnt;
	struct file		*running;	/* tells that there is a gssd */
	struct file		*gssd;
	struct rpc_clnt		*clnt[TEST_SERVICES];
	struct upcall_user	user[TEST_USERS];
	char __user		*buffer;
	void			(*on_import)(struct upcall_test *ut);
};

/* One upcall, as gssd reads it */
struct upcall {
	char			principal[32];
};

/* The toy mechanism */

static struct upcall_test *toy_test;

static int toy_import(const void *token, size_t len, struct gss_ctx *gss_ctx,
		      time64_t *endtime, gfp_t gfp)
{
	if (toy_test->on_import)
		toy_test->on_import(toy_test);
	return 0;
}

static const struct gss_api_ops toy_ops = {
	.gss_import_sec_context	= toy_import,
};

static struct pf_desc toy_flavors[] = {
	[TEST_NONE] = {
		.pseudoflavor	= TEST_FLAVOR_NONE,
		.service	= RPC_GSS_SVC_NONE,
		.name		= "toy",
	},
	[TEST_INTEGRITY] = {
		.pseudoflavor	= TEST_FLAVOR_INTEGRITY,
		.service	= RPC_GSS_SVC_INTEGRITY,
		.name		= "toyi",
	},
};

static struct gss_api_mech toy_mech = {
	.gm_name	= "toy",
	.gm_owner	= THIS_MODULE,
	.gm_ops		= &toy_ops,
	.gm_pf_num	= ARRAY_SIZE(toy_flavors),
	.gm_pfs		= toy_flavors,
};

/* An RPC program that nobody serves */

static const struct rpc_procinfo upcall_test_procs[] = {
	{ .p_name = "NULL" },
};

static unsigned int upcall_test_counts[ARRAY_SIZE(upcall_test_procs)];

static const struct rpc_version upcall_test_version = {
	.number		= 1,
	.nrprocs	= ARRAY_SIZE(upcall_test_procs),
	.procs		= upcall_test_procs,
	.counts		= upcall_test_counts,
};

static const struct rpc_version *upcall_test_versions[] = {
	[1] = &upcall_test_version,
};

static struct rpc_stat upcall_test_stats;

static const struct rpc_program upcall_test_program = {
	.name		= "gss_upcall_kunit",
	.number		= 0x20000000,	/* the first for local use */
	.nrvers		= ARRAY_SIZE(upcall_test_versions),
	.version	= upcall_test_versions,
	.stats		= &upcall_test_stats,
	.pipe_dir_name	= "nfs",
};

/* gssd */

static struct file *gssd_open(struct dentry *dir, const char *name, int flags)
{
	struct path path = {
		.mnt	= toy_test->mnt,
		.dentry	= dir,
	};

	return file_open_root(&path, name, flags, 0);
}

static void gssd_close(struct file **file)
{
	if (!IS_ERR_OR_NULL(*file))
		__fput_sync(*file);
	*file = NULL;
}

static void gssd_start(struct kunit *test, int flags)
{
	struct upcall_test *ut = test->priv;
	struct dentry *dir = ut->clnt[0]->cl_pipedir_objects.pdh_dentry;

	ut->gssd = gssd_open(dir, "gssd", flags);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ut->gssd);
}

/* Read an upcall. Returns false if none comes within @limit milliseconds. */
static bool gssd_read(struct kunit *test, struct upcall *upcall,
		      unsigned int limit)
{
	unsigned long end = jiffies + msecs_to_jiffies(limit);
	struct upcall_test *ut = test->priv;
	char text[TEST_TEXT] = "";
	const char *service;
	loff_t pos = 0;
	ssize_t len;

	for (;;) {
		len = ut->gssd->f_op->read(ut->gssd, ut->buffer,
					   sizeof(text) - 1, &pos);
		if (len || time_after(jiffies, end))
			break;
		msleep(20);
	}
	KUNIT_ASSERT_GE(test, len, 0);
	if (!len)
		return false;

	KUNIT_ASSERT_EQ(test, 0, copy_from_user(text, ut->buffer, len));
	strscpy(upcall->principal, TEST_USER);
	service = strstr(text, "service=");
	if (service)
		sscanf(service, "service=%31s", upcall->principal);
	return true;
}

static void gssd_put(u8 *message, size_t *len, const void *data, u32 size)
{
	memcpy(message + *len, data, size);
	*len += size;
}

/* Answer an upcall, with the negative errno @err or with a context */
static ssize_t gssd_write(struct kunit *test, const struct upcall *upcall,
			  int err)
{
	u32 uid = 0, timeout = 3600, window = err ? 0 : 128, empty = 0;
	struct upcall_test *ut = test->priv;
	u32 size = strlen(upcall->principal);
	u8 message[TEST_TEXT];
	loff_t pos = 0;
	size_t len = 0;

	gssd_put(message, &len, &uid, sizeof(uid));
	gssd_put(message, &len, &timeout, sizeof(timeout));
	gssd_put(message, &len, &window, sizeof(window));
	if (err) {
		gssd_put(message, &len, &err, sizeof(err));
	} else {
		gssd_put(message, &len, &size, sizeof(size));
		gssd_put(message, &len, upcall->principal, size);
		gssd_put(message, &len, &empty, sizeof(empty));
	}

	KUNIT_ASSERT_EQ(test, 0, copy_to_user(ut->buffer, message, len));
	return ut->gssd->f_op->write(ut->gssd, ut->buffer, len, &pos);
}

static void gssd_answer(struct kunit *test, const struct upcall *upcall,
			int err)
{
	KUNIT_EXPECT_GT(test, gssd_write(test, upcall, err), 0);
}

/* Read and answer, each in turn, for as long as something comes */
static unsigned int gssd_serve(struct kunit *test)
{
	struct upcall upcall;
	unsigned int nr = 0;

	while (gssd_read(test, &upcall, TEST_QUIET)) {
		gssd_answer(test, &upcall, 0);
		nr++;
	}
	return nr;
}

/* Those who ask */

static int upcall_user_thread(void *data)
{
	struct upcall_user *user = data;
	struct auth_cred acred = {
		.cred		= current_cred(),
		.principal	= user->principal,
	};

	allow_signal(SIGKILL);
	user->cred = user->auth->au_ops->lookup_cred(user->auth, &acred, 0);
	complete(&user->done);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static void upcall_user_start(struct upcall_test *ut, unsigned int i,
			      unsigned int service, const char *principal)
{
	struct upcall_user *user = &ut->user[i];

	user->auth = ut->clnt[service]->cl_auth;
	user->principal = principal;
	user->thread = kthread_run(upcall_user_thread, user, "gss_upcall/%u",
				   i);
}

/* Returns the error that the user got, or zero for a credential */
static int upcall_user_wait(struct kunit *test, unsigned int i)
{
	struct upcall_test *ut = test->priv;
	struct upcall_user *user = &ut->user[i];

	if (!wait_for_completion_timeout(&user->done,
					 msecs_to_jiffies(TEST_LIMIT)))
		return -EINPROGRESS;
	complete(&user->done);
	return PTR_ERR_OR_ZERO(user->cred);
}

static void upcall_user_put(struct upcall_user *user)
{
	if (IS_ERR_OR_NULL(user->cred))
		return;
	/* There is no server to tell that the context is gone */
	clear_bit(RPCAUTH_CRED_UPTODATE, &user->cred->cr_flags);
	put_rpccred(user->cred);
	user->cred = NULL;
}

static void upcall_user_stop(struct upcall_user *user)
{
	if (IS_ERR_OR_NULL(user->thread))
		return;
	send_sig(SIGKILL, user->thread, 1);
	kthread_stop(user->thread);
	user->thread = NULL;
	upcall_user_put(user);
}

/* The context of a credential is the one that it asked for */
static void upcall_user_expect_own(struct kunit *test, unsigned int i)
{
	struct upcall_test *ut = test->priv;
	struct upcall_user *user = &ut->user[i];
	const char *wanted = user->principal ?: TEST_USER;
	char got[32] = "";
	struct gss_cl_ctx *ctx;

	KUNIT_ASSERT_EQ_MSG(test, 0, upcall_user_wait(test, i),
			    "%s has no credential", wanted);

	rcu_read_lock();
	ctx = rcu_dereference(container_of(user->cred, struct gss_cred,
					   gc_base)->gc_ctx);
	if (ctx)
		memcpy(got, ctx->gc_wire_ctx.data,
		       min(ctx->gc_wire_ctx.len, sizeof(got) - 1));
	rcu_read_unlock();
	KUNIT_EXPECT_STREQ(test, got, wanted);
}

static int upcall_test_suite_init(struct kunit_suite *suite)
{
	return gss_mech_register(&toy_mech);
}

static void upcall_test_suite_exit(struct kunit_suite *suite)
{
	gss_mech_unregister(&toy_mech);
}

static void upcall_test_create_clients(struct kunit *test)
{
	struct upcall_test *ut = test->priv;
	struct sockaddr_in sin = {
		.sin_family		= AF_INET,
		.sin_addr.s_addr	= htonl(INADDR_LOOPBACK),
		.sin_port		= htons(9),
	};
	struct rpc_create_args args = {
		.net		= &init_net,
		.protocol	= XPRT_TRANSPORT_TCP,
		.address	= (struct sockaddr *)&sin,
		.addrsize	= sizeof(sin),
		.servername	= "localhost",
		.program	= &upcall_test_program,
		.version	= 1,
		.authflavor	= TEST_FLAVOR_NONE,
		.flags		= RPC_CLNT_CREATE_NOPING,
		.cred		= current_cred(),
	};

	ut->clnt[TEST_NONE] = rpc_create(&args);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ut->clnt[TEST_NONE]);
	ut->clnt[TEST_INTEGRITY] =
		rpc_clone_client_set_auth(ut->clnt[TEST_NONE],
					  TEST_FLAVOR_INTEGRITY);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ut->clnt[TEST_INTEGRITY]);
}

static int upcall_test_init(struct kunit *test)
{
	struct file_system_type *type;
	struct upcall_test *ut;
	unsigned int i;

	if (gssd_running(&init_net))
		kunit_skip(test, "there is a gssd, it would answer too");

	ut = kunit_kzalloc(test, sizeof(*ut), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ut);
	for (i = 0; i < TEST_USERS; i++)
		init_completion(&ut->user[i].done);
	test->priv = ut;
	toy_test = ut;

	ut->buffer = (char __user *)kunit_vm_mmap(test, NULL, 0, PAGE_SIZE,
						  PROT_READ | PROT_WRITE,
						  MAP_ANONYMOUS | MAP_PRIVATE,
						  0);
	KUNIT_ASSERT_NOT_NULL(test, (void __force *)ut->buffer);

	type = get_fs_type("rpc_pipefs");
	KUNIT_ASSERT_NOT_NULL(test, type);
	ut->mnt = kern_mount(type);
	put_filesystem(type);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ut->mnt);

	ut->running = gssd_open(ut->mnt->mnt_root, "gssd/clntXX/gssd", O_RDWR);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ut->running);
	upcall_test_create_clients(test);
	return 0;
}

static void upcall_test_exit(struct kunit *test)
{
	struct upcall_test *ut = test->priv;
	unsigned int i;

	if (!ut)
		return;
	for (i = 0; i < TEST_USERS; i++)
		upcall_user_stop(&ut->user[i]);
	for (i = TEST_SERVICES; i-- > 0; )
		if (!IS_ERR_OR_NULL(ut->clnt[i]))
			rpc_shutdown_client(ut->clnt[i]);
	gssd_close(&ut->gssd);
	gssd_close(&ut->running);
	if (!IS_ERR_OR_NULL(ut->mnt))
		kern_unmount(ut->mnt);
}

struct pair_case {
	const char	*desc;
	unsigned int	service[2];
	const char	*principal[2];
};

static const struct pair_case pair_cases[] = {
	{ "user after machine",
	  { TEST_NONE, TEST_NONE }, { TEST_MACHINE, NULL } },
	{ "machine after user",
	  { TEST_NONE, TEST_NONE }, { NULL, TEST_MACHINE } },
	{ "user after machine with another service",
	  { TEST_NONE, TEST_INTEGRITY }, { TEST_MACHINE, NULL } },
	{ "machine after user with another service",
	  { TEST_INTEGRITY, TEST_NONE }, { NULL, TEST_MACHINE } },
	{ "two principals of the machine",
	  { TEST_NONE, TEST_NONE }, { TEST_MACHINE, "nfs" } },
};

KUNIT_ARRAY_PARAM_DESC(pair, pair_cases, desc);

static void upcall_test_start_pair(struct kunit *test,
				   const struct pair_case *param,
				   struct upcall *first)
{
	struct upcall_test *ut = test->priv;

	gssd_start(test, O_RDWR);
	upcall_user_start(ut, 0, param->service[0], param->principal[0]);
	KUNIT_ASSERT_TRUE(test, gssd_read(test, first, TEST_LIMIT));
	upcall_user_start(ut, 1, param->service[1], param->principal[1]);
}

/* gssd reads all there is, and then answers in the order of reading */
static void credential_gets_its_own_context(struct kunit *test)
{
	struct upcall upcall[TEST_USERS];
	unsigned int i, nr = 1;

	upcall_test_start_pair(test, test->param_value, upcall);
	while (nr < TEST_USERS && gssd_read(test, &upcall[nr], TEST_QUIET))
		nr++;

	for (i = 0; i < nr; i++)
		gssd_answer(test, &upcall[i], 0);
	gssd_serve(test);

	upcall_user_expect_own(test, 0);
	upcall_user_expect_own(test, 1);
}

/* One is refused, the other is not */
static void credential_gets_its_own_refusal(struct kunit *test)
{
	struct upcall upcall[TEST_USERS];
	unsigned int nr = 1;

	upcall_test_start_pair(test, test->param_value, upcall);
	while (nr < TEST_USERS && gssd_read(test, &upcall[nr], TEST_QUIET))
		nr++;

	gssd_answer(test, &upcall[0], -EKEYEXPIRED);
	if (nr > 1)
		gssd_answer(test, &upcall[1], 0);
	gssd_serve(test);

	KUNIT_EXPECT_EQ(test, -EKEYEXPIRED, upcall_user_wait(test, 0));
	upcall_user_expect_own(test, 1);
}

/* Asynchronous tasks: each fails with the answer to its own upcall */
static void task_gets_its_own_refusal(struct kunit *test)
{
	static const int errors[] = { -EKEYEXPIRED, -EACCES };
	const struct pair_case *param = test->param_value;
	struct upcall_test *ut = test->priv;
	struct rpc_task *task[2] = { };
	struct upcall upcall[2];
	unsigned int i, nr = 0;

	gssd_start(test, O_RDWR);
	for (i = 0; i < 2; i++) {
		struct rpc_clnt *clnt = ut->clnt[param->service[i]];
		struct auth_cred acred = {
			.cred		= current_cred(),
			.principal	= param->principal[i],
		};
		struct rpc_cred *cred;

		cred = clnt->cl_auth->au_ops->lookup_cred(clnt->cl_auth, &acred,
							  RPCAUTH_LOOKUP_NEW);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cred);
		task[i] = rpc_call_null(clnt, cred, RPC_TASK_ASYNC);
		put_rpccred(cred);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task[i]);
		if (gssd_read(test, &upcall[nr], TEST_QUIET))
			nr++;
	}
	KUNIT_ASSERT_GE(test, nr, 1);

	for (i = 0; i < nr; i++)
		gssd_answer(test, &upcall[i], errors[i]);
	if (nr < 2 && gssd_read(test, &upcall[1], TEST_QUIET))
		gssd_answer(test, &upcall[1], errors[1]);

	for (i = 0; i < 2; i++) {
		rpc_wait_for_completion_task(task[i]);
		KUNIT_EXPECT_EQ(test, errors[i], task[i]->tk_status);
		rpc_put_task(task[i]);
	}
}

/* A context is good for any service: their upcalls do not wait */
static void services_of_a_principal_ask_at_once(struct kunit *test)
{
	struct upcall_test *ut = test->priv;
	struct upcall upcall[2];

	gssd_start(test, O_RDWR);
	upcall_user_start(ut, 0, TEST_NONE, NULL);
	upcall_user_start(ut, 1, TEST_INTEGRITY, NULL);

	KUNIT_ASSERT_TRUE(test, gssd_read(test, &upcall[0], TEST_LIMIT));
	KUNIT_ASSERT_TRUE(test, gssd_read(test, &upcall[1], TEST_LIMIT));
	gssd_answer(test, &upcall[1], 0);
	gssd_answer(test, &upcall[0], 0);

	upcall_user_expect_own(test, 0);
	upcall_user_expect_own(test, 1);
}

/* One upcall is enough for all who want the same */
static void credential_is_asked_for_once(struct kunit *test)
{
	struct upcall_test *ut = test->priv;
	struct upcall upcall;
	unsigned int i;

	gssd_start(test, O_RDWR);
	for (i = 0; i < TEST_USERS; i++)
		upcall_user_start(ut, i, TEST_NONE, TEST_MACHINE);

	KUNIT_ASSERT_TRUE(test, gssd_read(test, &upcall, TEST_LIMIT));
	KUNIT_EXPECT_FALSE(test, gssd_read(test, &upcall, TEST_QUIET));
	gssd_answer(test, &upcall, 0);

	for (i = 0; i < TEST_USERS; i++)
		upcall_user_expect_own(test, i);
	KUNIT_EXPECT_EQ(test, 0, gssd_serve(test));
}

/* Who asks first is served first */
static void upcalls_wait_in_order(struct kunit *test)
{
	static const char * const order[TEST_USERS] = {
		NULL, TEST_MACHINE, "nfs",
	};
	struct upcall_test *ut = test->priv;
	struct upcall upcall[TEST_USERS];
	unsigned int i;

	gssd_start(test, O_RDWR);
	for (i = 0; i < TEST_USERS; i++) {
		upcall_user_start(ut, i, TEST_NONE, order[i]);
		msleep(TEST_QUIET);
	}

	for (i = 0; i < TEST_USERS; i++) {
		KUNIT_ASSERT_TRUE(test, gssd_read(test, &upcall[i],
						  TEST_LIMIT));
		KUNIT_EXPECT_STREQ(test, upcall[i].principal,
				   order[i] ?: TEST_USER);
		gssd_answer(test, &upcall[i], 0);
	}
	for (i = 0; i < TEST_USERS; i++)
		upcall_user_expect_own(test, i);
}

/* While gssd's answer is imported: one who wants it, and one who does not */
static void upcall_test_ask_during_import(struct upcall_test *ut)
{
	ut->on_import = NULL;
	upcall_user_start(ut, 1, TEST_NONE, TEST_MACHINE);
	upcall_user_start(ut, 2, TEST_NONE, NULL);
	msleep(TEST_QUIET);
}

static void upcall_during_the_import_of_an_answer(struct kunit *test)
{
	struct upcall_test *ut = test->priv;
	struct upcall upcall;

	gssd_start(test, O_RDWR);
	upcall_user_start(ut, 0, TEST_NONE, TEST_MACHINE);
	KUNIT_ASSERT_TRUE(test, gssd_read(test, &upcall, TEST_LIMIT));
	ut->on_import = upcall_test_ask_during_import;
	gssd_answer(test, &upcall, 0);

	KUNIT_EXPECT_EQ(test, 1, gssd_serve(test));
	upcall_user_expect_own(test, 0);
	upcall_user_expect_own(test, 1);
	upcall_user_expect_own(test, 2);
}

/* gssd is restarted: what it had read is lost, what waited is asked again */
static void upcall_that_waits_survives_a_restart(struct kunit *test)
{
	struct upcall_test *ut = test->priv;
	struct upcall upcall;

	upcall_test_start_pair(test, test->param_value, &upcall);
	msleep(TEST_QUIET);
	gssd_close(&ut->gssd);
	KUNIT_EXPECT_EQ(test, -EPIPE, upcall_user_wait(test, 0));

	gssd_start(test, O_RDWR);
	KUNIT_ASSERT_TRUE(test, gssd_read(test, &upcall, TEST_LIMIT));
	gssd_answer(test, &upcall, 0);
	upcall_user_expect_own(test, 1);
}

/* Nobody reads the pipe: all give up together, not one after the other */
static void upcalls_time_out_together(struct kunit *test)
{
	const struct pair_case *param = test->param_value;
	struct upcall_test *ut = test->priv;
	struct rpc_pipe *pipe;
	unsigned int i;

	gssd_start(test, O_WRONLY);
	for (i = 0; i < 2; i++) {
		upcall_user_start(ut, i, param->service[i],
				  param->principal[i]);
		msleep(TEST_QUIET);
	}

	/* The time is up */
	pipe = RPC_I(file_inode(ut->gssd))->pipe;
	mod_delayed_work(system_dfl_wq, &pipe->queue_timeout, 0);

	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, upcall_user_wait(test, 0));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, upcall_user_wait(test, 1));
	KUNIT_EXPECT_TRUE(test, list_empty(&pipe->in_downcall));
}

/* A process that is killed need not wait, and leaves nothing behind */
static void killed_process_does_not_wait(struct kunit *test)
{
	struct upcall_test *ut = test->priv;
	struct upcall upcall;
	struct rpc_pipe *pipe;

	upcall_test_start_pair(test, test->param_value, &upcall);
	msleep(TEST_QUIET);
	send_sig(SIGKILL, ut->user[1].thread, 1);
	KUNIT_EXPECT_EQ(test, -ERESTARTSYS, upcall_user_wait(test, 1));

	gssd_answer(test, &upcall, 0);
	upcall_user_expect_own(test, 0);
	gssd_serve(test);
	pipe = RPC_I(file_inode(ut->gssd))->pipe;
	KUNIT_EXPECT_TRUE(test, list_empty(&pipe->in_downcall));
}

/* There is nobody for the answer, or not yet */
static void answer_that_nobody_asked_for(struct kunit *test)
{
	struct upcall upcall = { TEST_MACHINE };
	struct upcall_test *ut = test->priv;

	gssd_start(test, O_RDWR);
	KUNIT_EXPECT_EQ(test, -ENOENT, gssd_write(test, &upcall, 0));

	upcall_user_start(ut, 0, TEST_NONE, NULL);
	msleep(TEST_QUIET);
	KUNIT_EXPECT_EQ(test, -ENOENT, gssd_write(test, &upcall, 0));

	KUNIT_EXPECT_EQ(test, 1, gssd_serve(test));
	upcall_user_expect_own(test, 0);
}

static struct kunit_case upcall_test_cases[] = {
	KUNIT_CASE_PARAM(credential_gets_its_own_context, pair_gen_params),
	KUNIT_CASE_PARAM(credential_gets_its_own_refusal, pair_gen_params),
	KUNIT_CASE_PARAM(task_gets_its_own_refusal, pair_gen_params),
	KUNIT_CASE(services_of_a_principal_ask_at_once),
	KUNIT_CASE(credential_is_asked_for_once),
	KUNIT_CASE(upcalls_wait_in_order),
	KUNIT_CASE(upcall_during_the_import_of_an_answer),
	KUNIT_CASE_PARAM(upcall_that_waits_survives_a_restart,
			 pair_gen_params),
	KUNIT_CASE_PARAM(upcalls_time_out_together, pair_gen_params),
	KUNIT_CASE_PARAM(killed_process_does_not_wait, pair_gen_params),
	KUNIT_CASE(answer_that_nobody_asked_for),
	{}
};

static struct kunit_suite upcall_test_suite = {
	.name		= "gss_upcall",
	.suite_init	= upcall_test_suite_init,
	.suite_exit	= upcall_test_suite_exit,
	.init		= upcall_test_init,
	.exit		= upcall_test_exit,
	.test_cases	= upcall_test_cases,
};

kunit_test_suite(upcall_test_suite);

MODULE_DESCRIPTION("KUnit tests for RPCSEC_GSS upcalls to gssd");
MODULE_LICENSE("GPL");
