/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an admin may set of the server's RPCSEC_GSS sequence windows
 */

#ifndef _NET_SUNRPC_AUTH_GSS_GSS_SVC_PARAM_H
#define _NET_SUNRPC_AUTH_GSS_GSS_SVC_PARAM_H

#include <linux/types.h>

void gss_svc_param_init(void);
void gss_svc_param_exit(void);
void gss_svc_param_sizes(unsigned int threads, u32 *window, u32 *history);

#if IS_ENABLED(CONFIG_KUNIT)
#include <linux/sysctl.h>

enum gss_svc_param_nr {
	GSS_SVC_WINDOW,
	GSS_SVC_HISTORY,
	GSS_SVC_MEMORY,
	GSS_SVC_NR_PARAMS,
};

extern const struct ctl_table gss_svc_param_table[GSS_SVC_NR_PARAMS];

int gss_svc_param_set(enum gss_svc_param_nr nr, const char *text);
unsigned int gss_svc_param_get(enum gss_svc_param_nr nr);
#endif

#endif /* _NET_SUNRPC_AUTH_GSS_GSS_SVC_PARAM_H */
