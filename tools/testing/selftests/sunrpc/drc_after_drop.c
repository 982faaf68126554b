// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that must not be executed twice, while connections are lost.
 *
 * A client that loses its connection sends again what was not answered. NFSv3
 * servers recognise such a request by their duplicate reply cache, later ones by
 * the session slot. Where that fails, the second execution of a MKDIR finds the
 * directory and says EEXIST, the second REMOVE says ENOENT, and so on.
 *
 * Each worker has names of its own in two directories, draws operations, and
 * compares each result and the attributes that follow with a model. Both valid and
 * invalid operations are drawn: an EEXIST that the model expects is right.
 *
 * Environment, besides that of mount.h:
 *	INJECT=OP	run the first valid OP of worker 0 twice: the test must fail
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "conn_kill.h"
#include "mount.h"
#include "workers.h"

#define NAMES		24	/* of one worker; half of them in either directory */
#define MAX_SIZE	65536
#define NAME_LEN	32
#define PATH_LEN	(NAME_LEN + 32)

enum op {
	MKDIR, RENAME, LINK, SYMLINK, CREATE, UNLINK, RMDIR, SETATTR, OPS, NO_OP = OPS
};

static const char * const op_names[OPS] = {
	[MKDIR] = "mkdir", [RENAME] = "rename", [LINK] = "link", [SYMLINK] = "symlink",
	[CREATE] = "create", [UNLINK] = "unlink", [RMDIR] = "rmdir", [SETATTR] = "setattr",
};

enum kind { ABSENT, FILE_NAME, DIRECTORY, SYMBOLIC };

/* What a name stands for; node is that of a file or directory. */
struct entry {
	enum kind		kind;
	unsigned int		node;
	unsigned int		target;		/* of a symbolic link */
};

struct node {
	unsigned int		nlink;
	mode_t			mode;
	off_t			size;
};

struct model {
	char			base[NAME_LEN];
	unsigned int		generation;
	struct entry		names[NAMES];
	struct node		nodes[NAMES];
	unsigned long long		random;
	unsigned long		calls[OPS];
	unsigned long		wrong[OPS];
	unsigned long		state_checks;
	unsigned long		wrong_state;
	enum op			inject;
};

struct job {
	const struct test_setup	*setup;
	struct model		*models;
};

/* One drawn operation, and what the model says of it. */
struct draw {
	enum op			op;
	unsigned int		from;
	unsigned int		to;
	mode_t			mode;
	off_t			size;
	int			expect;		/* 0 or -errno */
};

static unsigned int draw_number(struct model *m, unsigned int limit)
{
	return test_random(&m->random) % limit;
}

static void name_path(const struct model *m, unsigned int name, char *path)
{
	snprintf(path, PATH_LEN, "%s/%c/n%u", m->base, name % 2 ? 'b' : 'a', name);
}

/* A directory of its own, with nothing in it that the model does not know. */
static bool fresh_base(struct worker *worker, struct model *m, const char *tag)
{
	static const char * const subdirs[] = { "", "/a", "/b" };
	char path[PATH_LEN];
	unsigned int i;

	memset(m->names, 0, sizeof(m->names));
	memset(m->nodes, 0, sizeof(m->nodes));
	snprintf(m->base, sizeof(m->base), "%s%u.%u", tag, worker->id, m->generation++);
	for (i = 0; i < ARRAY_SIZE(subdirs); i++) {
		snprintf(path, sizeof(path), "%s%s", m->base, subdirs[i]);
		op_begin(worker, "mkdir %s", path);
		if (mkdir(path, 0777)) {
			m->calls[MKDIR]++;
			m->wrong[MKDIR]++;
			complain(worker, "mkdir %s: %s, the name was never used", path,
				 strerror(errno));
			op_end(worker);
			return false;
		}
		op_end(worker);
	}
	return true;
}

static unsigned int free_node(const struct model *m)
{
	unsigned int i;

	for (i = 0; i < NAMES && m->nodes[i].nlink; i++)
		;
	return i;
}

static int expect_rename(const struct entry *from, const struct entry *to)
{
	if (from->kind == ABSENT)
		return -ENOENT;
	if (to->kind == DIRECTORY && from->kind != DIRECTORY)
		return -EISDIR;
	if (from->kind == DIRECTORY && to->kind != DIRECTORY && to->kind != ABSENT)
		return -ENOTDIR;
	return 0;
}

static int expect_link(const struct entry *from, const struct entry *to)
{
	if (from->kind == ABSENT)
		return -ENOENT;
	if (to->kind != ABSENT)
		return -EEXIST;
	return from->kind == DIRECTORY ? -EPERM : 0;
}

/* What Linux returns for the operation, given the model's state. */
static int expectation(const struct model *m, const struct draw *d)
{
	const struct entry *from = &m->names[d->from];

	switch (d->op) {
	case MKDIR:
	case SYMLINK:
	case CREATE:
		return from->kind == ABSENT ? 0 : -EEXIST;
	case RENAME:
		return expect_rename(from, &m->names[d->to]);
	case LINK:
		return expect_link(from, &m->names[d->to]);
	case UNLINK:
		if (from->kind == DIRECTORY)
			return -EISDIR;
		return from->kind == ABSENT ? -ENOENT : 0;
	case RMDIR:
		if (from->kind == ABSENT)
			return -ENOENT;
		return from->kind == DIRECTORY ? 0 : -ENOTDIR;
	default:
		return from->kind == ABSENT ? -ENOENT : 0;
	}
}

/* Operations that POSIX leaves open, or that have no effect, are not drawn. */
static bool sensible(const struct model *m, const struct draw *d)
{
	const struct entry *from = &m->names[d->from];

	if (d->op == RENAME || d->op == LINK) {
		const struct entry *to = &m->names[d->to];

		if (d->from == d->to)
			return false;
		if (d->op == LINK)
			return from->kind != SYMBOLIC;
		return from->kind != FILE_NAME || to->kind != FILE_NAME ||
		       from->node != to->node;
	}
	return d->op != SETATTR || from->kind == FILE_NAME || from->kind == ABSENT;
}

/* Mostly valid operations; one in eight may be any. */
static void draw_operation(struct model *m, struct draw *d)
{
	bool any = draw_number(m, 8) == 0;

	d->op = draw_number(m, OPS);
	do {
		d->from = draw_number(m, NAMES);
		d->to = draw_number(m, NAMES);
		d->mode = 0600 | draw_number(m, 0100);
		d->size = draw_number(m, MAX_SIZE);
		d->expect = expectation(m, d);
		/* With every name taken, or none, an operation may have no valid form. */
		if (draw_number(m, 4 * NAMES) == 0)
			d->op = draw_number(m, OPS);
	} while (!sensible(m, d) || d->expect != expectation(m, d) || (d->expect && !any));
}

static int run_create(const char *path, mode_t mode)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);

	return fd < 0 ? -1 : close(fd);
}

/* The system call of a draw; 0 or -errno. */
static int run_call(const struct draw *d, const char *from, const char *to)
{
	char target[32];
	int ret = -1;

	switch (d->op) {
	case MKDIR:
		ret = mkdir(from, 0700);
		break;
	case RENAME:
		ret = rename(from, to);
		break;
	case LINK:
		ret = link(from, to);
		break;
	case SYMLINK:
		snprintf(target, sizeof(target), "t%u", d->to);
		ret = symlink(target, from);
		break;
	case CREATE:
		ret = run_create(from, d->mode);
		break;
	case UNLINK:
		ret = unlink(from);
		break;
	case RMDIR:
		ret = rmdir(from);
		break;
	case SETATTR:
		ret = chmod(from, d->mode);
		if (!ret)
			ret = truncate(from, d->size);
		break;
	default:
		errno = EINVAL;
	}
	return ret ? -errno : 0;
}

static void forget(struct model *m, struct entry *entry)
{
	if (entry->kind == FILE_NAME || entry->kind == DIRECTORY)
		m->nodes[entry->node].nlink--;
	*entry = (struct entry){};
}

static void add(struct model *m, struct entry *entry, enum kind kind, mode_t mode)
{
	entry->kind = kind;
	entry->node = free_node(m);
	m->nodes[entry->node] = (struct node){ .nlink = 1, .mode = mode };
}

/* What a valid operation does to the model. */
static void update(struct model *m, const struct draw *d)
{
	struct entry *from = &m->names[d->from], *to = &m->names[d->to];

	switch (d->op) {
	case MKDIR:
		add(m, from, DIRECTORY, 0700);
		break;
	case RENAME:
		forget(m, to);
		*to = *from;
		*from = (struct entry){};
		break;
	case LINK:
		*to = *from;
		m->nodes[to->node].nlink++;
		break;
	case SYMLINK:
		*from = (struct entry){ .kind = SYMBOLIC, .target = d->to };
		break;
	case CREATE:
		add(m, from, FILE_NAME, d->mode);
		break;
	case UNLINK:
	case RMDIR:
		forget(m, from);
		break;
	case SETATTR:
		m->nodes[from->node].mode = d->mode;
		m->nodes[from->node].size = d->size;
		break;
	default:
		break;
	}
}

static bool right_file(const struct node *node, const struct statx *stx)
{
	return S_ISREG(stx->stx_mode) && (stx->stx_mode & 07777) == node->mode &&
	       (off_t)stx->stx_size == node->size && stx->stx_nlink == node->nlink;
}

static bool right_symlink(const struct entry *entry, const char *path,
			  const struct statx *stx)
{
	char target[32], found[32] = "";

	if (!S_ISLNK(stx->stx_mode) || readlink(path, found, sizeof(found) - 1) < 0)
		return false;
	snprintf(target, sizeof(target), "t%u", entry->target);
	return !strcmp(target, found);
}

/* Compare a name with the model; what is wrong goes to the worker's complaints. */
static bool check_name(struct worker *worker, struct model *m, unsigned int name)
{
	static const char * const kinds[] = {
		[ABSENT] = "nothing", [FILE_NAME] = "a file", [DIRECTORY] = "a directory",
		[SYMBOLIC] = "a symbolic link",
	};
	const struct entry *entry = &m->names[name];
	const struct node *node = &m->nodes[entry->node];
	struct statx stx = {};
	char path[PATH_LEN];
	bool right = false;
	int error;

	name_path(m, name, path);
	op_begin(worker, "statx %s", path);
	error = statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC,
		      STATX_BASIC_STATS, &stx) ? errno : 0;
	switch (entry->kind) {
	case ABSENT:
		right = error == ENOENT;
		break;
	case FILE_NAME:
		right = !error && right_file(node, &stx);
		break;
	case DIRECTORY:
		right = !error && S_ISDIR(stx.stx_mode);
		break;
	case SYMBOLIC:
		right = !error && right_symlink(entry, path, &stx);
		break;
	}
	op_end(worker);
	m->state_checks++;
	if (right)
		return true;
	m->wrong_state++;
	complain(worker, "%s: %s (mode %o size %llu nlink %u), not %s (mode %o size %llu nlink %u)",
		 path, error ? strerror(error) : "found", stx.stx_mode,
		 (unsigned long long)stx.stx_size, stx.stx_nlink, kinds[entry->kind],
		 node->mode, (unsigned long long)node->size, node->nlink);
	return false;
}

/* Run one operation; false if its result is not the model's. */
static bool one_operation(struct worker *worker, struct model *m, const struct draw *d)
{
	bool two = d->op == RENAME || d->op == LINK;
	char from[PATH_LEN], to[PATH_LEN];
	int error;

	name_path(m, d->from, from);
	name_path(m, d->to, to);
	op_begin(worker, "%s %s%s%s", op_names[d->op], from, two ? " " : "", two ? to : "");
	error = run_call(d, from, to);
	if (m->inject == d->op && !d->expect) {
		error = run_call(d, from, to);
		m->inject = NO_OP;
	}
	op_end(worker);
	m->calls[d->op]++;
	if (error != d->expect) {
		m->wrong[d->op]++;
		complain(worker, "%s: %s; the model says: %s", worker->note, strerror(-error),
			 strerror(-d->expect));
		return false;
	}
	if (!error)
		update(m, d);
	return true;
}

/* The load of one worker. After a wrong answer it goes on in a new directory. */
static void work(struct worker *worker, void *arg)
{
	struct job *job = arg;
	struct model *m = &job->models[worker->id];
	struct draw d;
	bool good;

	good = fresh_base(worker, m, "w");
	while (time_left(worker)) {
		draw_operation(m, &d);
		good = good && one_operation(worker, m, &d);
		if (good && draw_number(m, 4) == 0)
			good = check_name(worker, m, d.from) && check_name(worker, m, d.to);
		if (!good)
			good = fresh_base(worker, m, "w");
	}
}

/* Names in one directory of the worker that the model does not have. */
static void check_directory(struct worker *worker, struct model *m, char which)
{
	unsigned int name, known = 0, found = 0;
	char path[PATH_LEN];
	struct dirent *entry;
	DIR *dir;

	for (name = which == 'b'; name < NAMES; name += 2)
		known += m->names[name].kind != ABSENT;
	snprintf(path, sizeof(path), "%s/%c", m->base, which);
	op_begin(worker, "readdir %s", path);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		found += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	op_end(worker);
	m->state_checks++;
	if (found == known)
		return;
	m->wrong_state++;
	complain(worker, "%s: %u names, the model has %u", path, found, known);
}

static void audit(struct worker *worker, void *arg)
{
	struct job *job = arg;
	struct model *m = &job->models[worker->id];
	unsigned int name;

	for (name = 0; name < NAMES; name++)
		check_name(worker, m, name);
	check_directory(worker, m, 'a');
	check_directory(worker, m, 'b');
}

/*
 * Show that the test can fail: worker by worker, one operation is run twice. A
 * second setattr changes nothing, so there is nothing to report.
 */
static void self_check(struct worker *worker, void *arg)
{
	struct job *job = arg;
	struct model *m = &job->models[worker->id];
	struct draw d;

	worker->quiet = true;
	m->inject = worker->id;
	if (!fresh_base(worker, m, "self"))
		return;
	do {
		draw_operation(m, &d);
	} while (one_operation(worker, m, &d) && m->inject != NO_OP);
}

/* One worker for each operation; is exactly the doubled one reported? */
static void prove_model(const struct test_setup *setup)
{
	struct test_setup own = *setup;
	struct job job = { .setup = setup };
	struct pool pool;
	enum op op, other;

	own.workers = OPS;
	job.models = shared_memory(OPS * sizeof(*job.models));
	for (op = 0; op < OPS; op++)
		job.models[op].random = setup->seed + op;
	pool_init(&pool, &own);
	pool_run(&pool, "self-check", self_check, &job, 0);
	for (op = 0; op < OPS; op++) {
		bool exact = job.models[op].inject == NO_OP;

		if (op == SETATTR)
			continue;
		for (other = 0; other < OPS; other++)
			exact = exact && job.models[op].wrong[other] == (other == op);
		ksft_test_result(exact, "the model reports a doubled %s\n", op_names[op]);
	}
}

/* INJECT= as an operation. */
static enum op wanted_injection(void)
{
	const char *text = getenv("INJECT");
	enum op op;

	if (!text || !*text)
		return NO_OP;
	for (op = 0; op < OPS; op++)
		if (!strcmp(text, op_names[op]))
			return op;
	ksft_exit_fail_msg("INJECT=%s: no such operation\n", text);
}

static unsigned long sum(const struct job *job, enum op op, bool wrong)
{
	unsigned long total = 0;
	unsigned int i;

	for (i = 0; i < job->setup->workers; i++)
		total += wrong ? job->models[i].wrong[op] : job->models[i].calls[op];
	return total;
}

/* A test result per operation; an operation that was never run is no pass. */
static void report(const struct job *job)
{
	unsigned long wrong, checks = 0, wrong_state = 0;
	unsigned int i;
	enum op op;

	for (op = 0; op < OPS; op++) {
		wrong = sum(job, op, true);
		ksft_print_msg("%s: %lu calls, %lu wrong\n", op_names[op],
			       sum(job, op, false), wrong);
		ksft_test_result(!wrong && sum(job, op, false), "every %s as the model says\n",
				 op_names[op]);
	}
	for (i = 0; i < job->setup->workers; i++) {
		checks += job->models[i].state_checks;
		wrong_state += job->models[i].wrong_state;
	}
	ksft_print_msg("state: %lu checks, %lu wrong\n", checks, wrong_state);
	ksft_test_result(!wrong_state && checks, "names and attributes as the model says\n");
}

int main(void)
{
	enum op inject = wanted_injection();
	struct test_setup setup = {};
	struct job job = { .setup = &setup };
	unsigned long errors, killed;
	struct killer *killer;
	struct pool pool;
	unsigned int i;

	test_begin(&setup);
	killer_probe(&setup);
	test_folder(&setup, "drc");
	/* Seven doubled operations, eight operations, the state, the killer. */
	ksft_set_plan(OPS - 1 + OPS + 2);

	prove_model(&setup);
	pool_init(&pool, &setup);
	job.models = shared_memory(setup.workers * sizeof(*job.models));
	for (i = 0; i < setup.workers; i++) {
		job.models[i].random = (unsigned long long)setup.seed << 8 | i;
		job.models[i].inject = i ? NO_OP : inject;
	}
	killer = killer_start(&setup);
	errors = pool_run(&pool, "load", work, &job, setup.seconds);
	killed = killer_stop(killer);
	pool_drop_caches(&pool);
	errors += pool_run(&pool, "audit", audit, &job, 0);
	report(&job);
	killer_result(killer, killed);
	pool_clean(&pool);
	pool_summary(&pool, errors, killed);
	if (errors)
		ksft_exit_fail();
	ksft_finished();
}
