// SPDX-License-Identifier: GPL-2.0
/*
 * Many small operations while connections are lost: nothing may fail, hang or be lost.
 *
 * Each worker has some files and an image of each in memory. It writes, reads, syncs,
 * truncates, renames and closes at random; what it reads must be what the image says.
 * At the end the caches are dropped and every byte of every file is compared.
 *
 * Environment, besides that of mount.h:
 *	CORRUPT=1	change one byte before the comparison: the test must fail
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>

#include "conn_kill.h"
#include "mount.h"
#include "workers.h"

#define FILES		6		/* of one worker */
#define MAX_SIZE	(96 * 1024)
#define MAX_IO		(12 * 1024)

struct image {
	off_t			size;
	unsigned int		name;		/* goes up with each rename */
	unsigned char		data[MAX_SIZE];
};

/* What one worker knows; in shared memory, so that later phases find it. */
struct owner {
	struct image		files[FILES];
	unsigned long long		random;
	unsigned long		failed;		/* calls */
	unsigned long		misread;	/* reads during the load */
	unsigned long		mismatched;	/* files at the end */
	int			fds[FILES];
};

static unsigned int draw_number(struct owner *o, unsigned int limit)
{
	return test_random(&o->random) % limit;
}

static void file_name(const struct worker *worker, const struct owner *o, unsigned int file,
		      char *name, size_t size)
{
	snprintf(name, size, "w%u.f%u.%u", worker->id, file, o->files[file].name);
}

/* A call is over; count and print its failure. */
static bool finish(struct worker *worker, struct owner *o, bool good)
{
	int error = errno;

	op_end(worker);
	if (!good) {
		o->failed++;
		complain(worker, "%s: %s", worker->note, strerror(error));
	}
	return good;
}

static bool open_file(struct worker *worker, struct owner *o, unsigned int file, int flags)
{
	char name[64];

	if (o->fds[file] >= 0)
		return true;
	file_name(worker, o, file, name, sizeof(name));
	op_begin(worker, "open %s", name);
	o->fds[file] = open(name, O_RDWR | O_CLOEXEC | flags, 0644);
	return finish(worker, o, o->fds[file] >= 0);
}

static void close_file(struct worker *worker, struct owner *o, unsigned int file)
{
	op_begin(worker, "close file %u", file);
	finish(worker, o, close(o->fds[file]) == 0);
	o->fds[file] = -1;
}

static void write_some(struct worker *worker, struct owner *o, unsigned int file)
{
	struct image *image = &o->files[file];
	off_t at = draw_number(o, MAX_SIZE - MAX_IO);
	size_t len = 1 + draw_number(o, MAX_IO), i;
	ssize_t done;

	/* No holes: a write begins where the file ends, or before. */
	if (at > image->size)
		at = image->size;
	for (i = 0; i < len; i++)
		image->data[at + i] = test_random(&o->random) >> 56;
	op_begin(worker, "write %zu bytes at %lld of file %u", len, (long long)at, file);
	done = pwrite(o->fds[file], image->data + at, len, at);
	if (done >= 0 && (size_t)done < len)
		errno = ENOSPC;
	if (finish(worker, o, done == (ssize_t)len))
		worker->bytes += done;
	if (at + (off_t)len > image->size)
		image->size = at + len;
}

/* Where two buffers differ first, or len. */
static size_t difference(const unsigned char *one, const unsigned char *two, size_t len)
{
	size_t i;

	for (i = 0; i < len && one[i] == two[i]; i++)
		;
	return i;
}

static void read_some(struct worker *worker, struct owner *o, unsigned int file)
{
	const struct image *image = &o->files[file];
	unsigned char data[MAX_IO];
	size_t len, want, at;
	off_t from;
	ssize_t done;

	from = image->size ? draw_number(o, image->size) : 0;
	len = 1 + draw_number(o, MAX_IO);
	want = (off_t)len < image->size - from ? len : (size_t)(image->size - from);
	/* Drops clean pages, so that this read goes to the server. */
	if (draw_number(o, 2))
		posix_fadvise(o->fds[file], 0, 0, POSIX_FADV_DONTNEED);
	op_begin(worker, "read %zu bytes at %lld of file %u", len, (long long)from, file);
	done = pread(o->fds[file], data, len, from);
	if (!finish(worker, o, done >= 0))
		return;
	worker->bytes += done;
	at = difference(data, image->data + from, (size_t)done < want ? (size_t)done : want);
	if ((size_t)done == want && at == want)
		return;
	o->misread++;
	complain(worker, "%s: %zd bytes of %zu, right up to %zu", worker->note, done, want, at);
}

static void sync_file(struct worker *worker, struct owner *o, unsigned int file)
{
	op_begin(worker, "fsync file %u", file);
	finish(worker, o, fsync(o->fds[file]) == 0);
}

static void stat_file(struct worker *worker, struct owner *o, unsigned int file)
{
	struct stat st = {};
	char name[64];

	file_name(worker, o, file, name, sizeof(name));
	op_begin(worker, "stat %s", name);
	if (!finish(worker, o, stat(name, &st) == 0) || st.st_size == o->files[file].size)
		return;
	o->misread++;
	complain(worker, "%s: size %lld, wrote %lld", worker->note, (long long)st.st_size,
		 (long long)o->files[file].size);
}

static void rename_file(struct worker *worker, struct owner *o, unsigned int file)
{
	char from[64], to[64];

	file_name(worker, o, file, from, sizeof(from));
	o->files[file].name++;
	file_name(worker, o, file, to, sizeof(to));
	op_begin(worker, "rename %s %s", from, to);
	if (!finish(worker, o, rename(from, to) == 0))
		o->files[file].name -= access(to, F_OK) != 0;
}

static void cut_file(struct worker *worker, struct owner *o, unsigned int file)
{
	struct image *image = &o->files[file];

	image->size = image->size ? draw_number(o, image->size) : 0;
	op_begin(worker, "truncate file %u to %lld", file, (long long)image->size);
	finish(worker, o, ftruncate(o->fds[file], image->size) == 0);
}

static void one_operation(struct worker *worker, struct owner *o)
{
	unsigned int file = draw_number(o, FILES);

	if (!open_file(worker, o, file, 0))
		return;
	switch (draw_number(o, 16)) {
	case 0 ... 5:
		write_some(worker, o, file);
		break;
	case 6 ... 9:
		read_some(worker, o, file);
		break;
	case 10:
		sync_file(worker, o, file);
		break;
	case 11 ... 12:
		stat_file(worker, o, file);
		break;
	case 13:
		rename_file(worker, o, file);
		break;
	case 14:
		cut_file(worker, o, file);
		break;
	case 15:
		close_file(worker, o, file);
		break;
	}
}

static void work(struct worker *worker, void *arg)
{
	struct owner *o = &((struct owner *)arg)[worker->id];
	unsigned int file;

	for (file = 0; file < FILES; file++) {
		o->fds[file] = -1;
		open_file(worker, o, file, O_CREAT | O_EXCL);
	}
	while (time_left(worker))
		one_operation(worker, o);
	for (file = 0; file < FILES; file++) {
		if (o->fds[file] < 0)
			continue;
		sync_file(worker, o, file);
		close_file(worker, o, file);
	}
}

/* Read a whole file; its length, or -1. */
static ssize_t read_all(struct worker *worker, struct owner *o, const char *name,
			unsigned char *data)
{
	ssize_t done = 0, more = -1;
	int fd;

	op_begin(worker, "read all of %s", name);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		/* For those who may not drop all caches. */
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		do {
			more = read(fd, data + done, MAX_SIZE + 1 - done);
			done += more > 0 ? more : 0;
		} while (more > 0);
		close(fd);
	}
	return finish(worker, o, more == 0) ? done : -1;
}

static void compare(struct worker *worker, void *arg)
{
	struct owner *o = &((struct owner *)arg)[worker->id];
	unsigned char data[MAX_SIZE + 1] = {};
	unsigned int file;
	char name[64];

	for (file = 0; file < FILES; file++) {
		const struct image *image = &o->files[file];
		ssize_t len;
		size_t at;

		file_name(worker, o, file, name, sizeof(name));
		len = read_all(worker, o, name, data);
		if (len < 0) {
			o->mismatched++;
			continue;
		}
		at = difference(data, image->data, len < image->size ? len : image->size);
		if (len == image->size && (off_t)at == len)
			continue;
		o->mismatched++;
		complain(worker, "%s: %zd bytes, wrote %lld; at %zu 0x%02x, wrote 0x%02x", name,
			 len, (long long)image->size, at, data[at], image->data[at]);
	}
}

/* As compare(), but what it finds is what is wanted. */
static void compare_again(struct worker *worker, void *arg)
{
	worker->quiet = true;
	((struct owner *)arg)[worker->id].mismatched = 0;
	compare(worker, arg);
}

/* Change the last byte of one file, behind the back of its image. */
static void corrupt(struct worker *worker, void *arg)
{
	struct owner *o = arg;
	off_t at = o->files[0].size ? o->files[0].size - 1 : 0;
	unsigned char byte = o->files[0].data[at] ^ 1;
	char name[64];
	int fd;

	if (worker->id)
		return;
	file_name(worker, o, 0, name, sizeof(name));
	op_begin(worker, "change a byte of %s", name);
	fd = open(name, O_WRONLY | O_CLOEXEC);
	finish(worker, o, fd >= 0 && pwrite(fd, &byte, 1, at) == 1 && close(fd) == 0);
}

static unsigned long total(const struct test_setup *setup, const struct owner *owners, size_t field)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < setup->workers; i++)
		sum += *(const unsigned long *)((const char *)&owners[i] + field);
	return sum;
}

#define TOTAL(field) total(&setup, owners, offsetof(struct owner, field))

int main(void)
{
	bool corrupt_first = env_number("CORRUPT", 0, 0, 1);
	struct test_setup setup = {};
	struct owner *owners;
	struct killer *killer;
	unsigned long errors, killed;
	struct pool pool;
	unsigned int i;

	test_begin(&setup);
	killer_probe(&setup);
	test_folder(&setup, "storm");
	ksft_set_plan(5);

	pool_init(&pool, &setup);
	owners = shared_memory(setup.workers * sizeof(*owners));
	for (i = 0; i < setup.workers; i++)
		owners[i].random = (unsigned long long)setup.seed << 8 | i;
	killer = killer_start(&setup);
	errors = pool_run(&pool, "load", work, owners, setup.seconds);
	killed = killer_stop(killer);
	if (corrupt_first)
		pool_run(&pool, "corruption on request", corrupt, owners, 0);
	pool_drop_caches(&pool);
	errors += pool_run(&pool, "comparison", compare, owners, 0);
	ksft_print_msg("%lu calls failed, %lu reads wrong, %lu files wrong at the end\n",
		       TOTAL(failed), TOTAL(misread), TOTAL(mismatched));
	ksft_test_result(!TOTAL(failed) && pool.workers[0].operations, "no call failed\n");
	ksft_test_result(!TOTAL(misread), "every read returns what was written\n");
	ksft_test_result(!TOTAL(mismatched), "every byte is there without the caches\n");

	/* Would the comparison see it? After CORRUPT=1 it has just done so. */
	if (!corrupt_first)
		pool_run(&pool, "corruption", corrupt, owners, 0);
	pool_drop_caches(&pool);
	pool_run(&pool, "self-check", compare_again, owners, 0);
	ksft_test_result(TOTAL(mismatched) == 1, "one changed byte is reported\n");
	killer_result(killer, killed);

	pool_clean(&pool);
	pool_summary(&pool, errors, killed);
	if (errors)
		ksft_exit_fail();
	ksft_finished();
}
