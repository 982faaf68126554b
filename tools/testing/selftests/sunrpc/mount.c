// SPDX-License-Identifier: GPL-2.0
/*
 * Find out about the mount under test, or skip with the reason.
 */
#include <arpa/inet.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>

#include "kselftest.h"
#include "mount.h"

#define NFS_PORT	2049

/**
 * env_number - a number from the environment
 * @name: variable
 * @def: what an unset or empty variable means
 * @min: smallest valid value
 * @max: largest valid value
 *
 * Does not return if the value is not such a number.
 *
 * Return: the number.
 */
unsigned long env_number(const char *name, unsigned long def, unsigned long min,
			 unsigned long max)
{
	const char *text = getenv(name);
	unsigned long value;
	char *end;

	if (!text || !*text)
		return def;
	errno = 0;
	value = strtoul(text, &end, 0);
	if (errno || *end || *text == '-' || value < min || value > max)
		ksft_exit_fail_msg("%s=%s: wanted a number from %lu to %lu\n",
				   name, text, min, max);
	return value;
}

/**
 * test_random - next number of a pseudo-random sequence
 * @state: position in the sequence; any value starts one
 *
 * Return: 64 random bits.
 */
unsigned long long test_random(unsigned long long *state)
{
	unsigned long long z;

	/* An additive sequence, its bits mixed: no state is a bad one. */
	*state += 0x9e3779b97f4a7c15;
	z = *state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* The value of the option name= among mount options, copied to value. */
static bool mount_option(const char *options, const char *name, char *value, size_t size)
{
	size_t len = strlen(name);
	const char *at = options;

	while (at) {
		if (!strncmp(at, name, len) && at[len] == '=') {
			snprintf(value, size, "%.*s",
				 (int)strcspn(at + len + 1, ","), at + len + 1);
			return true;
		}
		at = strchr(at, ',');
		if (at)
			at++;
	}
	return false;
}

/* Take address and port of the server from the mount options. */
static bool find_server(struct test_mount *mnt)
{
	char text[INET6_ADDRSTRLEN], port[8] = "";
	in_port_t number = htons(NFS_PORT);

	if (!mount_option(mnt->options, "addr", text, sizeof(text)))
		return false;
	if (mount_option(mnt->options, "port", port, sizeof(port)) && atoi(port))
		number = htons(atoi(port));
	if (inet_pton(AF_INET, text, &mnt->server.in.sin_addr) == 1) {
		mnt->server.sa.sa_family = AF_INET;
		mnt->server.in.sin_port = number;
		return true;
	}
	if (inet_pton(AF_INET6, text, &mnt->server.in6.sin6_addr) == 1) {
		mnt->server.sa.sa_family = AF_INET6;
		mnt->server.in6.sin6_port = number;
		return true;
	}
	return false;
}

/* The super block options of the mount that has the device, from mountinfo. */
static void find_options(struct test_mount *mnt, dev_t dev)
{
	unsigned int maj, min;
	char *line = NULL;
	size_t size = 0;
	FILE *file;

	file = fopen("/proc/self/mountinfo", "re");
	if (!file)
		ksft_exit_skip("/proc/self/mountinfo cannot be read: %s\n",
			       strerror(errno));
	while (getline(&line, &size, file) > 0) {
		char *options = strrchr(line, ' ');

		if (sscanf(line, "%*d %*d %u:%u", &maj, &min) != 2 ||
		    makedev(maj, min) != dev || !options)
			continue;
		options[strcspn(options, "\n")] = '\0';
		snprintf(mnt->options, sizeof(mnt->options), "%s", options + 1);
		break;
	}
	free(line);
	fclose(file);
}

static void find_mount(struct test_mount *mnt, const char *path)
{
	struct statfs fs;
	struct stat st;
	char proto[8];

	if (!realpath(path, mnt->path) || statfs(path, &fs) || stat(path, &st))
		ksft_exit_skip("MNT=%s: %s\n", path, strerror(errno));
	mnt->nfs = fs.f_type == NFS_SUPER_MAGIC;
	if (!mnt->nfs && !env_number("MNT_ANY", 0, 0, 1))
		ksft_exit_skip("MNT=%s is not NFS (MNT_ANY=1 accepts it)\n", mnt->path);
	find_options(mnt, st.st_dev);
	mnt->tcp = mnt->nfs && mount_option(mnt->options, "proto", proto, sizeof(proto)) &&
		   !strncmp(proto, "tcp", 3) && find_server(mnt);
}

/* Whoever waits for a dead server is ended by this process, with a word. */
static pid_t guard(const char *what, unsigned long seconds)
{
	pid_t caller = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The caller may have ended before that. */
	if (getppid() != caller)
		_exit(KSFT_PASS);
	sleep(seconds);
	printf("Bail out! waited %lu s for %s\n", seconds, what);
	fflush(stdout);
	kill(caller, SIGKILL);
	_exit(KSFT_FAIL);
}

static void unguard(pid_t pid)
{
	if (pid < 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/**
 * test_begin - start the KTAP output and read the environment
 * @setup: filled in
 *
 * Does not return if the test cannot run here.
 */
void test_begin(struct test_setup *setup)
{
	struct test_mount *mnt = &setup->mnt;
	const char *path = getenv("MNT");
	pid_t pid;

	ksft_print_header();
	umask(0);
	if (!path || !*path)
		ksft_exit_skip("MNT= does not name a folder on an NFS mount\n");
	setup->seconds = env_number("DURATION", 20, 1, 86400);
	setup->seed = env_number("SEED", time(NULL) & 0xffffff, 0, UINT_MAX);
	setup->workers = env_number("WORKERS", 6, 1, 64);
	setup->stall = env_number("STALL", 100, 1, 3600);
	setup->kill_ms = env_number("KILL_MS", 0, 0, 60000);
	pid = guard("the mount to answer", setup->stall);
	find_mount(mnt, path);
	unguard(pid);
	if (setup->kill_ms && !mnt->tcp)
		ksft_exit_skip("KILL_MS=%lu: MNT=%s is not NFS over TCP\n",
			       setup->kill_ms, mnt->path);
	ksft_print_msg("mount options: %s\n", mnt->options);
	ksft_print_msg("SEED=%lu DURATION=%lu WORKERS=%lu STALL=%lu KILL_MS=%lu\n",
		       setup->seed, setup->seconds, setup->workers, setup->stall,
		       setup->kill_ms);
}

/**
 * test_folder - make a folder to work in, and go there
 * @setup: of the test
 * @name: of the test
 *
 * Does not return if the mount is not writable.
 */
void test_folder(struct test_setup *setup, const char *name)
{
	struct test_mount *mnt = &setup->mnt;
	pid_t pid = guard("a new folder", setup->stall);

	snprintf(mnt->folder, sizeof(mnt->folder), "%s/%s.XXXXXX", mnt->path, name);
	if (!mkdtemp(mnt->folder) || chdir(mnt->folder)) {
		unguard(pid);
		ksft_exit_skip("MNT=%s is not writable: %s\n", mnt->path, strerror(errno));
	}
	unguard(pid);
}
