// SPDX-License-Identifier: GPL-2.0
/*
 * What an admin may set of the server's RPCSEC_GSS sequence windows: the
 * parameters of the module, and the same under /proc/sys/sunrpc
 *
 * A context that has its seq_window keeps it, whatever is set later: the
 * client was told. What is set holds for the contexts that come then.
 */

#include <kunit/visibility.h>
#include <linux/kstrtox.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/sysctl.h>

#include "gss_svc_param.h"
#include "gss_svc_seq.h"

/* Up to this the bytes of all bitmaps can be counted in a long, in KiB */
#define GSS_SVC_MEMORY_MAX	(INT_MAX / 1024)

struct gss_svc_param {
	unsigned int	*value;
	bool		(*fits)(unsigned int value);
};

/* Both zero: chosen by the number of threads */
static unsigned int gss_svc_window;
static unsigned int gss_svc_history;

/* A change of one value is checked against the others, and then made */
static DEFINE_MUTEX(gss_svc_param_mutex);

static bool gss_svc_window_fits(unsigned int value)
{
	if (!value)
		return true;
	if (value < GSS_SEQ_WIN || value > GSS_SVC_SEQ_MAX / 8)
		return false;
	return !gss_svc_history || value <= gss_svc_history;
}

static bool gss_svc_history_fits(unsigned int value)
{
	if (!value)
		return true;
	if (value < GSS_SEQ_WIN || value > GSS_SVC_SEQ_MAX ||
	    !is_power_of_2(value))
		return false;
	return value >= gss_svc_window;
}

static bool gss_svc_memory_fits(unsigned int value)
{
	return value <= GSS_SVC_MEMORY_MAX;
}

static struct gss_svc_param gss_svc_param_window = {
	.value	= &gss_svc_window,
	.fits	= gss_svc_window_fits,
};

static struct gss_svc_param gss_svc_param_history = {
	.value	= &gss_svc_history,
	.fits	= gss_svc_history_fits,
};

static struct gss_svc_param gss_svc_param_memory = {
	.value	= &gss_svc_seq_kbytes,
	.fits	= gss_svc_memory_fits,
};

static int gss_svc_param_store(const struct gss_svc_param *param,
			       unsigned int value)
{
	int ret = -EINVAL;

	mutex_lock(&gss_svc_param_mutex);
	if (param->fits(value)) {
		WRITE_ONCE(*param->value, value);
		ret = 0;
	}
	mutex_unlock(&gss_svc_param_mutex);
	return ret;
}

/* Parameters of the module */

static int gss_svc_param_parse(const char *text, const struct kernel_param *kp)
{
	unsigned int value;

	if (!text || kstrtouint(text, 0, &value))
		return -EINVAL;
	return gss_svc_param_store(kp->arg, value);
}

static int gss_svc_param_print(char *text, const struct kernel_param *kp)
{
	const struct gss_svc_param *param = kp->arg;

	return scnprintf(text, PAGE_SIZE, "%u\n", READ_ONCE(*param->value));
}

static const struct kernel_param_ops gss_svc_param_ops = {
	.set	= gss_svc_param_parse,
	.get	= gss_svc_param_print,
};

module_param_cb(gss_svc_window, &gss_svc_param_ops, &gss_svc_param_window,
		0644);
MODULE_PARM_DESC(gss_svc_window,
		 "Sequence window told to clients, 128 to 8192 (default 0: by the number of threads)");
module_param_cb(gss_svc_history, &gss_svc_param_ops, &gss_svc_param_history,
		0644);
MODULE_PARM_DESC(gss_svc_history,
		 "Sequence numbers remembered of a context, a power of two, 128 to 65536 (default 0: eight windows)");
module_param_cb(gss_svc_memory, &gss_svc_param_ops, &gss_svc_param_memory,
		0644);
MODULE_PARM_DESC(gss_svc_memory,
		 "KiB for the sequence numbers of all contexts (default 65536)");

/* Their twins */

static int gss_svc_param_sysctl(const struct ctl_table *table, int write,
				void *buffer, size_t *lenp, loff_t *ppos)
{
	const struct gss_svc_param *param = table->data;
	unsigned int value = READ_ONCE(*param->value);
	const struct ctl_table copy = {
		.procname	= table->procname,
		.data		= &value,
		.maxlen		= sizeof(value),
	};
	int ret;

	ret = proc_douintvec(&copy, write, buffer, lenp, ppos);
	if (ret || !write)
		return ret;
	return gss_svc_param_store(param, value);
}

VISIBLE_IF_KUNIT const struct ctl_table gss_svc_param_table[] = {
	{
		.procname	= "gss_svc_window",
		.data		= &gss_svc_param_window,
		.mode		= 0644,
		.proc_handler	= gss_svc_param_sysctl,
	},
	{
		.procname	= "gss_svc_history",
		.data		= &gss_svc_param_history,
		.mode		= 0644,
		.proc_handler	= gss_svc_param_sysctl,
	},
	{
		.procname	= "gss_svc_memory",
		.data		= &gss_svc_param_memory,
		.mode		= 0644,
		.proc_handler	= gss_svc_param_sysctl,
	},
};
EXPORT_SYMBOL_IF_KUNIT(gss_svc_param_table);

static struct ctl_table_header *gss_svc_param_header;

/**
 * gss_svc_param_init - make the files in /proc/sys/sunrpc
 *
 * The server does without them if that fails.
 *
 * Context: Process context, once.
 */
void gss_svc_param_init(void)
{
	gss_svc_param_header = register_sysctl("sunrpc", gss_svc_param_table);
}

/**
 * gss_svc_param_exit - remove the files in /proc/sys/sunrpc
 *
 * Context: Process context, once.
 */
void gss_svc_param_exit(void)
{
	if (gss_svc_param_header)
		unregister_sysctl_table(gss_svc_param_header);
}

/**
 * gss_svc_param_sizes - choose the size of a new context's window
 * @threads: how many Calls the server may be working on at a time
 * @window: on return, the seq_window to tell the client, in numbers
 * @history: on return, how many numbers to remember, a power of two
 *
 * Context: Any.
 */
void gss_svc_param_sizes(unsigned int threads, u32 *window, u32 *history)
{
	unsigned int set_window = READ_ONCE(gss_svc_window);
	unsigned int set_history = READ_ONCE(gss_svc_history);

	gss_svc_seq_sizes(threads, window, history);
	if (set_window) {
		*window = set_window;
		*history = max_t(u32, 8 * roundup_pow_of_two(set_window),
				 GSS_SVC_SEQ_HISTORY);
	}
	if (set_history)
		*history = set_history;
	*window = min(*window, *history);
}
EXPORT_SYMBOL_IF_KUNIT(gss_svc_param_sizes);

#if IS_ENABLED(CONFIG_KUNIT)
/**
 * gss_svc_param_set - set a parameter, as a write to its file in /sys does
 * @nr: which one
 * @text: what is written
 *
 * Context: Process context. May sleep.
 * Return: Zero, or -EINVAL: then nothing has changed.
 */
int gss_svc_param_set(enum gss_svc_param_nr nr, const char *text)
{
	struct kernel_param kp = {
		.arg	= gss_svc_param_table[nr].data,
	};

	return gss_svc_param_ops.set(text, &kp);
}
EXPORT_SYMBOL_IF_KUNIT(gss_svc_param_set);

/**
 * gss_svc_param_get - read a parameter
 * @nr: which one
 *
 * Context: Any.
 * Return: Its value.
 */
unsigned int gss_svc_param_get(enum gss_svc_param_nr nr)
{
	const struct gss_svc_param *param = gss_svc_param_table[nr].data;

	return *param->value;
}
EXPORT_SYMBOL_IF_KUNIT(gss_svc_param_get);
#endif
