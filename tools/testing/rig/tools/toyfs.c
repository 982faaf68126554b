// SPDX-License-Identifier: GPL-2.0
/*
 * Answer the procedures that a client needs to mount the file system, look around, and read.
 */
#include <stdio.h>
#include <string.h>

#include "toyfs.h"

#define MOUNT		100005
#define NFS		100003
#define VERSION		3
#define READ		6

#define NFS3_OK		0
#define NFS3ERR_NOENT	2
#define NFS3ERR_STALE	70
#define KRB5		390003		/* the pseudoflavor, RFC 2623 */
#define TYPE_FILE	1
#define TYPE_FOLDER	2
#define MAY_READ	0x0001
#define MAY_LOOKUP	0x0002
#define MAY_EXECUTE	0x0020
#define HOMOGENEOUS	0x0008		/* of FSINFO */

#define FILES		64
#define FILE_SIZE	(16u << 20)
#define READ_MOST	(64u << 10)
#define HANDLE_MOST	64
#define NAME_MOST	255

/* A file handle is one of these numbers. */
enum {
	ROOT = 1,
	LOAD = 2,
	FIRST = 16,
	END = FIRST + FILES,
};

static uint32_t get_handle(struct reader *in)
{
	uint32_t len;
	struct reader handle = { .at = get_opaque(in, &len, HANDLE_MOST) };

	handle.left = in->bad ? 0 : len;
	return get_word(&handle);
}

static void put_handle(struct writer *out, uint32_t handle)
{
	put_word(out, 4);
	put_word(out, handle);
}

static bool is_file(uint32_t handle)
{
	return handle >= FIRST && handle < END;
}

static bool is_known(uint32_t handle)
{
	return handle == ROOT || handle == LOAD || is_file(handle);
}

static void put_time(struct writer *out)
{
	put_word(out, 1);
	put_word(out, 0);
}

static void put_attributes(struct writer *out, uint32_t handle)
{
	bool file = is_file(handle);

	put_word(out, file ? TYPE_FILE : TYPE_FOLDER);
	put_word(out, file ? 0444 : 0555);
	put_word(out, file ? 1 : 2);
	put_word(out, 0);			/* owner and group */
	put_word(out, 0);
	put_long(out, file ? FILE_SIZE : 4096);
	put_long(out, file ? FILE_SIZE : 4096);
	put_long(out, 0);			/* the device, of devices */
	put_long(out, 1);			/* the file system */
	put_long(out, handle);
	put_time(out);
	put_time(out);
	put_time(out);
}

/* Attributes that may come along with a result. */
static void put_known(struct writer *out, uint32_t handle)
{
	put_word(out, is_known(handle));
	if (is_known(handle))
		put_attributes(out, handle);
}

/* The status of a handle, and its attributes as they come along. */
static bool begin(struct writer *out, uint32_t handle)
{
	put_word(out, is_known(handle) ? NFS3_OK : NFS3ERR_STALE);
	put_known(out, handle);
	return is_known(handle);
}

static void serve_nothing(struct reader *in, struct writer *out)
{
	(void)in;
	(void)out;
}

static void serve_mount(struct reader *in, struct writer *out)
{
	uint32_t len;

	get_opaque(in, &len, 1024);
	put_word(out, NFS3_OK);
	put_handle(out, ROOT);
	put_word(out, 1);
	put_word(out, KRB5);
}

static void serve_umount(struct reader *in, struct writer *out)
{
	uint32_t len;

	(void)out;
	get_opaque(in, &len, 1024);
}

static void serve_getattr(struct reader *in, struct writer *out)
{
	uint32_t handle = get_handle(in);

	put_word(out, is_known(handle) ? NFS3_OK : NFS3ERR_STALE);
	if (is_known(handle))
		put_attributes(out, handle);
}

static uint32_t look_up(uint32_t folder, const char *name)
{
	unsigned int number;
	char rest;

	if (folder == ROOT && !strcmp(name, "load"))
		return LOAD;
	if (folder == LOAD && sscanf(name, "file.%2u%c", &number, &rest) == 1 && number < FILES)
		return FIRST + number;
	return 0;
}

static void serve_lookup(struct reader *in, struct writer *out)
{
	uint32_t folder = get_handle(in), len, found;
	const uint8_t *text = get_opaque(in, &len, NAME_MOST);
	char name[NAME_MOST + 1];

	if (!text)
		return;
	memcpy(name, text, len);
	name[len] = '\0';
	found = look_up(folder, name);
	put_word(out, found ? NFS3_OK : NFS3ERR_NOENT);
	if (found) {
		put_handle(out, found);
		put_known(out, found);
	}
	put_known(out, folder);
}

static void serve_access(struct reader *in, struct writer *out)
{
	uint32_t handle = get_handle(in), wanted = get_word(in);

	if (begin(out, handle))
		put_word(out, wanted & (is_file(handle) ? MAY_READ :
					MAY_READ | MAY_LOOKUP | MAY_EXECUTE));
}

static void serve_read(struct reader *in, struct writer *out)
{
	uint32_t handle = get_handle(in), count;
	uint64_t offset = get_long(in);
	uint8_t *room;

	count = get_word(in);
	if (!begin(out, is_file(handle) ? handle : 0))
		return;
	if (offset > FILE_SIZE)
		offset = FILE_SIZE;
	if (count > READ_MOST)
		count = READ_MOST;
	if (count > FILE_SIZE - offset)
		count = FILE_SIZE - offset;
	put_word(out, count);
	put_word(out, offset + count == FILE_SIZE);
	put_word(out, count);
	room = put_room(out, count);
	if (room)
		memset(room, 0, count);
}

static void serve_fsstat(struct reader *in, struct writer *out)
{
	int i;

	if (!begin(out, get_handle(in)))
		return;
	put_long(out, (uint64_t)FILES * FILE_SIZE);
	for (i = 0; i < 2; i++)			/* free bytes */
		put_long(out, 0);
	put_long(out, FILES + 2);
	for (i = 0; i < 2; i++)			/* free entries */
		put_long(out, 0);
	put_word(out, 0);
}

static void serve_fsinfo(struct reader *in, struct writer *out)
{
	int i;

	if (!begin(out, get_handle(in)))
		return;
	for (i = 0; i < 2; i++) {		/* for READ, and for WRITE */
		put_word(out, READ_MOST);
		put_word(out, READ_MOST);
		put_word(out, 4096);
	}
	put_word(out, 4096);
	put_long(out, FILE_SIZE);
	put_time(out);
	put_word(out, HOMOGENEOUS);
}

static void serve_pathconf(struct reader *in, struct writer *out)
{
	if (!begin(out, get_handle(in)))
		return;
	put_word(out, 1);			/* links */
	put_word(out, NAME_MOST);
	put_word(out, true);			/* names are not cut, */
	put_word(out, true);			/* owners not given away, */
	put_word(out, false);			/* and case matters */
	put_word(out, true);
}

static const struct row {
	uint32_t	program;
	uint32_t	procedure;
	void		(*serve)(struct reader *in, struct writer *out);
} rows[] = {
	{ MOUNT, 0, serve_nothing },
	{ MOUNT, 1, serve_mount },
	{ MOUNT, 3, serve_umount },
	{ NFS, 0, serve_nothing },
	{ NFS, 1, serve_getattr },
	{ NFS, 3, serve_lookup },
	{ NFS, 4, serve_access },
	{ NFS, READ, serve_read },
	{ NFS, 18, serve_fsstat },
	{ NFS, 19, serve_fsinfo },
	{ NFS, 20, serve_pathconf },
};

static const struct row *find_row(const struct call *call)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].program == call->program && rows[i].procedure == call->procedure)
			return &rows[i];
	return NULL;
}

/**
 * toyfs_is_open - may anybody make this Call?
 * @call: the Call
 *
 * Return: whether it needs no context: what mounts, and what only asks who is there.
 */
bool toyfs_is_open(const struct call *call)
{
	return call->program != NFS || !call->procedure;
}

/**
 * toyfs_is_read - is this a READ?
 * @call: the Call
 *
 * Return: whether it is one.
 */
bool toyfs_is_read(const struct call *call)
{
	return call->program == NFS && call->procedure == READ;
}

/**
 * toyfs_serve - execute a Call
 * @call: the Call
 * @out: with a Reply up to its verifier; the rest is added
 */
void toyfs_serve(struct call *call, struct writer *out)
{
	const struct row *row = find_row(call);
	struct writer start = *out;

	if (call->program != NFS && call->program != MOUNT) {
		put_word(out, PROG_UNAVAIL);
	} else if (call->version != VERSION) {
		put_word(out, PROG_MISMATCH);
		put_word(out, VERSION);
		put_word(out, VERSION);
	} else if (!row) {
		put_word(out, PROC_UNAVAIL);
	} else {
		put_word(out, SUCCESS);
		row->serve(&call->args, out);
		if (call->args.bad) {
			*out = start;
			put_word(out, GARBAGE_ARGS);
		}
	}
}
