// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the destruction of an RPC credential cache
 *
 * The flavor is a toy, its credentials count how often they are
 * destroyed. What another thread does before rpcauth_clear_credcache()
 * gets the locks is done by a stub in its place.
 */

#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/cred.h>
#include <linux/sunrpc/auth.h>

struct cache_test {
	struct rpc_auth		auth;
	struct rpc_cred		*cred;
	unsigned int		destroyed;
	struct rpc_cred_cache	*cache;		/* as it was made */
	struct rpc_cred_cache	*seen;		/* before it was cleared */
};

static struct cache_test *cache_test_of(struct rpc_auth *auth)
{
	return container_of(auth, struct cache_test, auth);
}

static void toy_destroy(struct rpc_cred *cred)
{
	cache_test_of(cred->cr_auth)->destroyed++;
	put_cred(cred->cr_cred);
	kfree_rcu(cred, cr_rcu);
}

static int toy_match(struct auth_cred *acred, struct rpc_cred *cred, int flags)
{
	return 1;
}

static const struct rpc_credops toy_credops = {
	.cr_name	= "toy",
	.crdestroy	= toy_destroy,
	.crmatch	= toy_match,
};

static int toy_hash(struct auth_cred *acred, unsigned int hashbits)
{
	return 0;
}

static struct rpc_cred *toy_create(struct rpc_auth *auth,
				   struct auth_cred *acred, int flags,
				   gfp_t gfp)
{
	struct rpc_cred *cred = kzalloc_obj(*cred, gfp);

	if (!cred)
		return ERR_PTR(-ENOMEM);
	rpcauth_init_cred(cred, acred, auth, &toy_credops);
	return cred;
}

static const struct rpc_authops toy_authops = {
	.au_name	= "toy",
	.hash_cred	= toy_hash,
	.crcreate	= toy_create,
};

static int cache_test_init(struct kunit *test)
{
	struct auth_cred acred = {
		.cred	= current_cred(),
	};
	struct cache_test *ct;

	ct = kunit_kzalloc(test, sizeof(*ct), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ct);
	test->priv = ct;
	ct->auth.au_ops = &toy_authops;
	KUNIT_ASSERT_EQ(test, 0, rpcauth_init_credcache(&ct->auth));
	ct->cache = ct->auth.au_credcache;
	ct->cred = rpcauth_lookup_credcache(&ct->auth, &acred, 0, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ct->cred);
	KUNIT_ASSERT_TRUE(test, test_bit(RPCAUTH_CRED_HASHED,
					 &ct->cred->cr_flags));
	return 0;
}

/* Drop the credential, which has not gone out of the cache yet */
static void cache_test_interfere(struct rpc_cred_cache *cache)
{
	struct kunit *test = kunit_get_current_test();
	struct cache_test *ct = test->priv;

	kunit_deactivate_static_stub(test, rpcauth_clear_credcache);

	/* A credential that is not up to date is unhashed on that occasion */
	ct->seen = ct->auth.au_credcache;
	if (ct->seen)
		put_rpccred(ct->cred);

	rpcauth_clear_credcache(cache);
}

/* Until it is unhashed, a credential leads to the lock that covers it */
static void credential_dropped_before_its_cache_is_clear(struct kunit *test)
{
	struct cache_test *ct = test->priv;

	kunit_activate_static_stub(test, rpcauth_clear_credcache,
				   cache_test_interfere);

	rpcauth_destroy_credcache(&ct->auth);

	KUNIT_EXPECT_PTR_EQ(test, ct->cache, ct->seen);
	KUNIT_EXPECT_EQ(test, 1, ct->destroyed);
	KUNIT_EXPECT_NULL(test, ct->auth.au_credcache);
	if (!ct->destroyed)
		put_rpccred(ct->cred);
}

/* Afterwards it goes with its last reference and asks for no cache */
static void credential_dropped_after_its_cache_is_gone(struct kunit *test)
{
	struct cache_test *ct = test->priv;

	rpcauth_destroy_credcache(&ct->auth);
	KUNIT_EXPECT_EQ(test, 0, ct->destroyed);
	KUNIT_EXPECT_NULL(test, ct->auth.au_credcache);

	put_rpccred(ct->cred);
	KUNIT_EXPECT_EQ(test, 1, ct->destroyed);
}

static struct kunit_case cache_test_cases[] = {
	KUNIT_CASE(credential_dropped_before_its_cache_is_clear),
	KUNIT_CASE(credential_dropped_after_its_cache_is_gone),
	{}
};

static struct kunit_suite cache_test_suite = {
	.name		= "rpc_credcache",
	.init		= cache_test_init,
	.test_cases	= cache_test_cases,
};

kunit_test_suite(cache_test_suite);

MODULE_DESCRIPTION("KUnit tests for the RPC credential cache");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
