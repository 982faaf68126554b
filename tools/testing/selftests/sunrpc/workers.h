/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes that work side by side under a watchdog.
 *
 * A worker says what it is about to do before each operation that may block. The
 * parent never touches the file system: it looks at these notes, in shared memory,
 * and ends the test with the note of a worker that has not moved for too long.
 */
#ifndef _SELFTESTS_SUNRPC_WORKERS_H
#define _SELFTESTS_SUNRPC_WORKERS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "kselftest.h"
#include "mount.h"

#define NOTE_LEN	256

struct worker {
	unsigned int		id;
	pid_t			pid;
	bool			ended;
	bool			quiet;		/* errors are wanted */
	long long		since;		/* ms; 0: not in an operation */
	char			note[NOTE_LEN];
	long long		deadline;	/* ms; the load is over then */
	unsigned long		operations;
	unsigned long		errors;
	unsigned long		bytes;
};

struct pool {
	const struct test_setup	*setup;
	unsigned int		count;
	struct worker		*workers;
};

typedef void (*worker_fn)(struct worker *worker, void *arg);

void op_begin(struct worker *worker, const char *fmt, ...) __printf(2, 3);
void op_end(struct worker *worker);
void complain(struct worker *worker, const char *fmt, ...) __printf(2, 3);
bool time_left(const struct worker *worker);
long long now_ms(void);

void *shared_memory(size_t size);
void pool_init(struct pool *pool, const struct test_setup *setup);
unsigned long pool_run(struct pool *pool, const char *what, worker_fn fn, void *arg,
		       unsigned int seconds);
bool pool_drop_caches(struct pool *pool);
void pool_clean(struct pool *pool);
void pool_summary(const struct pool *pool, unsigned long errors, unsigned long killed);

#endif /* _SELFTESTS_SUNRPC_WORKERS_H */
