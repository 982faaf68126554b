/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file system that is there to be mounted and read: /load/file.0 to file.63, 16 MiB of
 * zeros each, by NFSv3 and the MOUNT protocol that goes with it (RFC 1813).
 */
#ifndef RIG_TOYFS_H
#define RIG_TOYFS_H

#include <stdbool.h>

#include "call.h"
#include "xdr.h"

#define TOYFS_REPLY	(68 << 10)	/* room that is enough for the rest of any Reply */

bool toyfs_is_open(const struct call *call);
bool toyfs_is_read(const struct call *call);
void toyfs_serve(struct call *call, struct writer *out);

#endif /* RIG_TOYFS_H */
