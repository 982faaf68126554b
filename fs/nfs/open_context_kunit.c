// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the order in which an NFS open context lets go
 *
 * The superblock is one of a pseudo file system, which goes the way of
 * an NFS client's: when its last reference goes, so does the RPC client
 * of the mount. The context's RPC credential is a toy that looks, when
 * it is destroyed, whether the superblock is still there.
 */

#include <kunit/test.h>
#include <linux/fs.h>
#include <linux/fs_context.h>
#include <linux/mount.h>
#include <linux/nfs_fs.h>
#include <linux/nfs_xdr.h>
#include <linux/pseudo_fs.h>
#include <linux/sunrpc/auth.h>

#define TEST_MAGIC	0x6e66736b

struct context_test {
	struct nfs_server	server;
	struct nfs_client	client;
	struct rpc_auth		auth;
	struct rpc_cred		cred;
	struct vfsmount		*mnt;
	struct nfs_open_context	*ctx;
	bool			unmounted;
	unsigned int		destroyed;
	bool			destroyed_too_late;
};

static struct context_test *context_test_of(struct super_block *sb)
{
	return container_of(NFS_SB(sb), struct context_test, server);
}

static void toy_destroy(struct rpc_cred *cred)
{
	struct context_test *ct = container_of(cred, struct context_test, cred);

	ct->destroyed++;
	ct->destroyed_too_late = ct->unmounted;
	put_cred(cred->cr_cred);
}

static const struct rpc_credops toy_credops = {
	.cr_name	= "toy",
	.crdestroy	= toy_destroy,
};

static void toy_close_context(struct nfs_open_context *ctx, int is_sync)
{
}

static const struct nfs_rpc_ops toy_rpc_ops = {
	.close_context	= toy_close_context,
};

/* The file system finds the test that it is mounted for here */
static struct context_test *context_test_current;

static int context_test_init_fs_context(struct fs_context *fc)
{
	fc->s_fs_info = &context_test_current->server;
	return init_pseudo(fc, TEST_MAGIC) ? 0 : -ENOMEM;
}

static void context_test_kill_sb(struct super_block *sb)
{
	context_test_of(sb)->unmounted = true;
	kill_anon_super(sb);
}

static struct file_system_type context_test_fs_type = {
	.name			= "nfs-open-context-kunit",
	.owner			= THIS_MODULE,
	.init_fs_context	= context_test_init_fs_context,
	.kill_sb		= context_test_kill_sb,
};

static int context_test_init(struct kunit *test)
{
	struct auth_cred acred = {
		.cred	= current_cred(),
	};
	struct context_test *ct;

	ct = kunit_kzalloc(test, sizeof(*ct), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ct);
	test->priv = ct;
	ct->client.rpc_ops = &toy_rpc_ops;
	ct->server.nfs_client = &ct->client;
	rpcauth_init_cred(&ct->cred, &acred, &ct->auth, &toy_credops);

	context_test_current = ct;
	ct->mnt = kern_mount(&context_test_fs_type);
	context_test_current = NULL;
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ct->mnt);

	ct->ctx = alloc_nfs_open_context(ct->mnt->mnt_root, FMODE_READ, NULL);
	if (IS_ERR(ct->ctx)) {
		kern_unmount(ct->mnt);
		KUNIT_FAIL_AND_ABORT(test, "no open context");
	}
	rcu_assign_pointer(ct->ctx->ll_cred, &ct->cred);
	return 0;
}

/* I/O may go on after the file was closed and the file system unmounted */
static void context_put_after_unmount(struct kunit *test)
{
	struct context_test *ct = test->priv;

	kern_unmount(ct->mnt);
	KUNIT_EXPECT_FALSE(test, ct->unmounted);
	KUNIT_EXPECT_EQ(test, 0, ct->destroyed);

	put_nfs_open_context(ct->ctx);

	KUNIT_EXPECT_TRUE(test, ct->unmounted);
	KUNIT_EXPECT_EQ(test, 1, ct->destroyed);
	KUNIT_EXPECT_FALSE(test, ct->destroyed_too_late);
}

static void context_put_before_unmount(struct kunit *test)
{
	struct context_test *ct = test->priv;

	put_nfs_open_context(ct->ctx);
	KUNIT_EXPECT_FALSE(test, ct->unmounted);
	KUNIT_EXPECT_EQ(test, 1, ct->destroyed);

	kern_unmount(ct->mnt);
	KUNIT_EXPECT_TRUE(test, ct->unmounted);
}

static struct kunit_case context_test_cases[] = {
	KUNIT_CASE(context_put_after_unmount),
	KUNIT_CASE(context_put_before_unmount),
	{}
};

static struct kunit_suite context_test_suite = {
	.name		= "nfs_open_context",
	.init		= context_test_init,
	.test_cases	= context_test_cases,
};

kunit_test_suite(context_test_suite);

MODULE_DESCRIPTION("KUnit tests for NFS open contexts");
MODULE_LICENSE("GPL");
