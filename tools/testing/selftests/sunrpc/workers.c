// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that work side by side under a watchdog.
 */
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "workers.h"

#define COMPLAINTS	10	/* printed per worker; all are counted */
#define POLL_MS		50
#define REAP_MS		5000

/**
 * now_ms - the time by a clock that nobody sets
 *
 * Return: milliseconds.
 */
long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/**
 * op_begin - say what comes next
 * @worker: the calling worker
 * @fmt: what the watchdog is to print if it never ends
 *
 * Every call that may have to wait for the server has one.
 */
void op_begin(struct worker *worker, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(worker->note, sizeof(worker->note), fmt, args);
	va_end(args);
	__atomic_store_n(&worker->since, now_ms(), __ATOMIC_RELEASE);
}

/**
 * op_end - the operation of the last op_begin() is over
 * @worker: the calling worker
 */
void op_end(struct worker *worker)
{
	__atomic_store_n(&worker->since, 0, __ATOMIC_RELEASE);
	worker->operations++;
}

/**
 * complain - count an error and print what is wrong
 * @worker: the calling worker
 * @fmt: the complaint, without a line feed
 */
void complain(struct worker *worker, const char *fmt, ...)
{
	char text[2 * NOTE_LEN];
	va_list args;

	if (worker->quiet || ++worker->errors > COMPLAINTS)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	ksft_print_msg("worker %u, operation %lu: %s\n", worker->id,
		       worker->operations, text);
}

/**
 * time_left - is the worker to go on?
 * @worker: the calling worker
 *
 * Return: false once the load is over.
 */
bool time_left(const struct worker *worker)
{
	return now_ms() < worker->deadline;
}

/**
 * shared_memory - memory that processes forked from here share
 * @size: in bytes
 *
 * Does not return if there is not enough.
 *
 * Return: the memory, all zero.
 */
void *shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		ksft_exit_fail_perror("mmap");
	return memory;
}

/**
 * pool_init - get ready to run workers
 * @pool: filled in
 * @setup: how many workers, and how long one may hang
 */
void pool_init(struct pool *pool, const struct test_setup *setup)
{
	pool->setup = setup;
	pool->count = setup->workers;
	pool->workers = shared_memory(pool->count * sizeof(*pool->workers));
}

static void start(struct worker *worker, worker_fn fn, void *arg)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		ksft_exit_fail_perror("fork");
	if (pid) {
		worker->pid = pid;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		fn(worker, arg);
	fflush(stdout);
	_exit(KSFT_PASS);
}

/* Reap those that have ended; true if that was all of them. */
static bool all_ended(struct pool *pool, const char *what)
{
	bool all = true;
	unsigned int i;
	int status;

	for (i = 0; i < pool->count; i++) {
		struct worker *worker = &pool->workers[i];

		if (worker->ended)
			continue;
		if (waitpid(worker->pid, &status, WNOHANG) != worker->pid) {
			all = false;
			continue;
		}
		worker->ended = true;
		if (!WIFEXITED(status) || WEXITSTATUS(status) != KSFT_PASS) {
			worker->errors++;
			ksft_print_msg("%s: worker %u died of status 0x%x at: %s\n", what, i,
				       status, worker->note);
		}
	}
	return all;
}

/* End everything, but do not wait long for those that cannot be killed. */
static void kill_all(struct pool *pool, const char *what)
{
	long long until = now_ms() + REAP_MS;
	unsigned int i;

	for (i = 0; i < pool->count; i++)
		if (!pool->workers[i].ended)
			kill(pool->workers[i].pid, SIGKILL);
	while (!all_ended(pool, what) && now_ms() < until)
		usleep(POLL_MS * 1000);
}

/* Seconds that some worker has been stuck in one operation, if too many. */
static long long stuck(const struct pool *pool, const struct worker **which)
{
	long long now = now_ms();
	unsigned int i;

	for (i = 0; i < pool->count; i++) {
		const struct worker *worker = &pool->workers[i];
		long long since = __atomic_load_n(&worker->since, __ATOMIC_ACQUIRE);

		if (worker->ended || !since)
			continue;
		if (now - since > (long long)pool->setup->stall * 1000) {
			*which = worker;
			return (now - since) / 1000;
		}
	}
	return 0;
}

static unsigned long total_errors(const struct pool *pool)
{
	unsigned long errors = 0;
	unsigned int i;

	for (i = 0; i < pool->count; i++)
		errors += pool->workers[i].errors;
	return errors;
}

/* A hang ends the test: nothing that follows could be trusted to return. */
static void give_up(struct pool *pool, const char *what, const char *why)
{
	kill_all(pool, what);
	pool_summary(pool, total_errors(pool) + 1, 0);
	/* Not ksft_exit_fail_msg(): the counts of results are those of another file. */
	printf("Bail out! %s: %s\n", what, why);
	exit(KSFT_FAIL);
}

/**
 * pool_run - run all workers to their end
 * @pool: the workers
 * @what: name of this phase
 * @fn: what each of them does
 * @arg: handed to @fn
 * @seconds: for how long time_left() is to be true
 *
 * Does not return if a worker hangs.
 *
 * Return: the number of errors in this phase.
 */
unsigned long pool_run(struct pool *pool, const char *what, worker_fn fn, void *arg,
		       unsigned int seconds)
{
	long long deadline = now_ms() + (long long)seconds * 1000;
	long long limit = deadline + (long long)pool->setup->stall * 2000;
	unsigned long before = total_errors(pool);
	const struct worker *which;
	char why[2 * NOTE_LEN];
	unsigned int i;
	long long waited;

	for (i = 0; i < pool->count; i++) {
		struct worker *worker = &pool->workers[i];

		worker->id = i;
		worker->ended = false;
		worker->deadline = deadline;
		worker->since = 0;
		start(worker, fn, arg);
	}
	while (!all_ended(pool, what)) {
		waited = stuck(pool, &which);
		if (waited) {
			snprintf(why, sizeof(why), "worker %u has waited %lld s for: %s",
				 which->id, waited, which->note);
			give_up(pool, what, why);
		}
		if (now_ms() > limit)
			give_up(pool, what, "the workers do not come to their end");
		usleep(POLL_MS * 1000);
	}
	return total_errors(pool) - before;
}

static int remove_one(const char *path, const struct stat *st __maybe_unused,
		      int type __maybe_unused, struct FTW *ftw __maybe_unused)
{
	return remove(path);
}

static void remove_folder(struct worker *worker, void *arg)
{
	if (worker->id)
		return;
	op_begin(worker, "remove %s", (char *)arg);
	if (nftw(arg, remove_one, 16, FTW_DEPTH | FTW_PHYS))
		ksft_print_msg("%s cannot be removed: %s\n", (char *)arg, strerror(errno));
	op_end(worker);
}

/* The file system is synced first: a dirty page would stay. */
static void sync_and_drop(struct worker *worker, void *arg)
{
	bool *done = arg;
	int fd;

	if (worker->id)
		return;
	op_begin(worker, "sync, and dropping the caches");
	fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		sync();
		*done = write(fd, "3", 1) == 1;
		close(fd);
	}
	op_end(worker);
}

/**
 * pool_drop_caches - make later reads go to the server
 * @pool: the workers
 *
 * Return: false if this process may not do so.
 */
bool pool_drop_caches(struct pool *pool)
{
	bool *done = shared_memory(sizeof(*done));

	pool_run(pool, "dropping the caches", sync_and_drop, done, 0);
	if (!*done)
		ksft_print_msg("the caches cannot be dropped by this user\n");
	return *done;
}

/**
 * pool_clean - remove the folder that test_folder() made
 * @pool: the workers
 */
void pool_clean(struct pool *pool)
{
	if (chdir("/"))
		ksft_perror("chdir");
	pool_run(pool, "cleaning up", remove_folder, (void *)pool->setup->mnt.folder, 0);
}

/**
 * pool_summary - one line of counts, for scripts
 * @pool: the workers
 * @errors: of the whole test
 * @killed: connections killed
 */
void pool_summary(const struct pool *pool, unsigned long errors, unsigned long killed)
{
	unsigned long operations = 0, bytes = 0;
	unsigned int i;

	for (i = 0; i < pool->count; i++) {
		operations += pool->workers[i].operations;
		bytes += pool->workers[i].bytes;
	}
	ksft_print_msg("summary: errors=%lu operations=%lu bytes=%lu killed=%lu\n",
		       errors, operations, bytes, killed);
}
