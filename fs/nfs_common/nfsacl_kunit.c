// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the NFS_ACL encoder that NFSD's GETACL uses
 *
 * An ACL is encoded into a stream that is set up as svcxdr_init_encode()
 * does it: a head of one page, then a list of pages. What was encoded is
 * read back through the xdr_buf, octet by octet as a transport sends it.
 */

#include <kunit/test.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/nfsacl.h>
#include <linux/posix_acl.h>
#include <linux/sunrpc/xdr.h>

/* RPC header, status, attributes and mask of a GETACL reply with sec=sys */
#define TEST_BEFORE	124
#define TEST_AFTER	0x0ddba115
#define TEST_PAGES	12

struct nfsacl_case {
	const char	*desc;
	unsigned int	access;		/* entries of the access ACL */
	unsigned int	deflt;		/* entries of the default ACL */
	unsigned int	slack;		/* octets of the head kept for the flavor */
};

struct nfsacl_test {
	struct inode		*inode;
	struct posix_acl	*access;
	struct posix_acl	*deflt;
	struct page		*pages[TEST_PAGES];
	struct page		*head;
	struct xdr_buf		buf;
	struct xdr_stream	xdr;
	unsigned int		pos;	/* where reading back has come to */
};

static const struct nfsacl_case nfsacl_cases[] = {
	{ "minimal ACLs",			4,	4,	0 },
	{ "access ACL fits the head",		325,	4,	0 },
	{ "access ACL fills the head",		330,	4,	0 },
	{ "access ACL a little too large",	331,	4,	0 },
	{ "access ACL of nearly a page",	341,	4,	0 },
	{ "access ACL of more than a page",	342,	4,	0 },
	{ "default ACL does not fit the head",	200,	200,	0 },
	{ "default ACL of more than a page",	4,	600,	0 },
	{ "largest ACLs",			1024,	1024,	0 },
	{ "krb5i, ACLs fit the head",		140,	140,	400 },
	{ "krb5i, access ACL too large",	310,	4,	400 },
	{ "krb5i, default ACL too large",	4,	310,	400 },
	{ "krb5p, largest ACLs",		1024,	1024,	800 },
};

KUNIT_ARRAY_PARAM_DESC(nfsacl, nfsacl_cases, desc);

static struct posix_acl *nfsacl_test_acl(struct kunit *test, unsigned int count)
{
	struct posix_acl *acl = posix_acl_alloc(count, GFP_KERNEL);
	struct posix_acl_entry *entry;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, acl);
	for (i = 0; i < count; i++) {
		entry = &acl->a_entries[i];
		entry->e_perm = i & 7;
		if (i == 0) {
			entry->e_tag = ACL_USER_OBJ;
		} else if (i < count - 3) {
			entry->e_tag = ACL_USER;
			entry->e_uid = KUIDT_INIT(1000 + i);
		} else if (i == count - 3) {
			entry->e_tag = ACL_GROUP_OBJ;
		} else {
			entry->e_tag = i == count - 2 ? ACL_MASK : ACL_OTHER;
		}
	}
	return acl;
}

static struct page *nfsacl_test_page(struct kunit *test)
{
	struct page *page = alloc_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	/* What an earlier reply left behind */
	memset(page_address(page), 0xa5, PAGE_SIZE);
	return page;
}

static int nfsacl_test_init(struct kunit *test)
{
	struct nfsacl_test *nt;
	unsigned int i;

	nt = kunit_kzalloc(test, sizeof(*nt), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, nt);
	test->priv = nt;

	nt->inode = kunit_kzalloc(test, sizeof(*nt->inode), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, nt->inode);
	nt->inode->i_uid = KUIDT_INIT(17);
	nt->inode->i_gid = KGIDT_INIT(42);

	nt->head = nfsacl_test_page(test);
	for (i = 0; i < TEST_PAGES; i++)
		nt->pages[i] = nfsacl_test_page(test);
	return 0;
}

static void nfsacl_test_exit(struct kunit *test)
{
	struct nfsacl_test *nt = test->priv;
	unsigned int i;

	if (!nt)
		return;
	for (i = 0; i < TEST_PAGES; i++)
		if (nt->pages[i])
			put_page(nt->pages[i]);
	if (nt->head)
		put_page(nt->head);
	posix_acl_release(nt->access);
	posix_acl_release(nt->deflt);
}

static void nfsacl_test_init_encode(struct nfsacl_test *nt, unsigned int slack)
{
	struct xdr_stream *xdr = &nt->xdr;
	struct xdr_buf *buf = &nt->buf;

	buf->head[0].iov_base = page_address(nt->head);
	buf->head[0].iov_len = TEST_BEFORE;
	buf->pages = nt->pages;
	buf->len = TEST_BEFORE;
	buf->buflen = PAGE_SIZE * TEST_PAGES - slack;

	xdr_reset_scratch_buffer(xdr);
	xdr->buf = buf;
	xdr->iov = buf->head;
	xdr->p = buf->head[0].iov_base + TEST_BEFORE;
	xdr->end = buf->head[0].iov_base + PAGE_SIZE - slack;
	xdr->page_ptr = buf->pages - 1;
}

static u32 nfsacl_test_read(struct kunit *test)
{
	struct nfsacl_test *nt = test->priv;
	u32 word = 0;

	KUNIT_ASSERT_EQ(test, 0, xdr_decode_word(&nt->buf, nt->pos, &word));
	nt->pos += XDR_UNIT;
	return word;
}

static u32 nfsacl_test_id(struct nfsacl_test *nt, struct posix_acl_entry *entry)
{
	switch (entry->e_tag) {
	case ACL_USER_OBJ:
		return __kuid_val(nt->inode->i_uid);
	case ACL_GROUP_OBJ:
		return __kgid_val(nt->inode->i_gid);
	case ACL_USER:
		return __kuid_val(entry->e_uid);
	default:
		return 0;
	}
}

static void nfsacl_test_expect_acl(struct kunit *test, struct posix_acl *acl,
				   u32 typeflag)
{
	struct nfsacl_test *nt = test->priv;
	struct posix_acl_entry *entry;
	unsigned int i, wrong = 0;

	KUNIT_EXPECT_EQ(test, acl->a_count, nfsacl_test_read(test));
	KUNIT_ASSERT_EQ(test, acl->a_count, nfsacl_test_read(test));
	for (i = 0; i < acl->a_count; i++) {
		entry = &acl->a_entries[i];
		wrong += nfsacl_test_read(test) != (entry->e_tag | typeflag);
		wrong += nfsacl_test_read(test) != nfsacl_test_id(nt, entry);
		wrong += nfsacl_test_read(test) != entry->e_perm;
	}
	KUNIT_EXPECT_EQ_MSG(test, 0, wrong, "words that differ in %u entries",
			    acl->a_count);
}

static void nfsacl_test_reply_is_intact(struct kunit *test)
{
	const struct nfsacl_case *param = test->param_value;
	struct nfsacl_test *nt = test->priv;
	bool done;

	/* Arrange */
	nt->access = nfsacl_test_acl(test, param->access);
	nt->deflt = nfsacl_test_acl(test, param->deflt);
	nfsacl_test_init_encode(nt, param->slack);

	/* Act: both ACLs, and a word behind them, as a flavor may add */
	done = nfs_stream_encode_acl(&nt->xdr, nt->inode, nt->access, 1, 0);
	KUNIT_ASSERT_TRUE(test, done);
	done = nfs_stream_encode_acl(&nt->xdr, nt->inode, nt->deflt, 1,
				     NFS_ACL_DEFAULT);
	KUNIT_ASSERT_TRUE(test, done);
	KUNIT_ASSERT_EQ(test, XDR_UNIT,
			xdr_stream_encode_u32(&nt->xdr, TEST_AFTER));
	xdr_commit_encode(&nt->xdr);

	/* Assert */
	KUNIT_EXPECT_EQ(test, nt->buf.len,
			nt->buf.head[0].iov_len + nt->buf.page_len);
	nt->pos = TEST_BEFORE;
	nfsacl_test_expect_acl(test, nt->access, 0);
	nfsacl_test_expect_acl(test, nt->deflt, NFS_ACL_DEFAULT);
	KUNIT_EXPECT_EQ(test, TEST_AFTER, nfsacl_test_read(test));
	KUNIT_EXPECT_EQ(test, nt->buf.len, nt->pos);
}

static struct kunit_case nfsacl_test_cases[] = {
	KUNIT_CASE_PARAM(nfsacl_test_reply_is_intact, nfsacl_gen_params),
	{}
};

static struct kunit_suite nfsacl_test_suite = {
	.name		= "nfsacl_encode",
	.init		= nfsacl_test_init,
	.exit		= nfsacl_test_exit,
	.test_cases	= nfsacl_test_cases,
};

kunit_test_suite(nfsacl_test_suite);

MODULE_DESCRIPTION("KUnit tests for the NFS_ACL encoder");
MODULE_LICENSE("GPL");
