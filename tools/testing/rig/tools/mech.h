/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mechanism behind RPCSEC_GSS: Kerberos, with the machine's keytab.
 */
#ifndef RIG_MECH_H
#define RIG_MECH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdr.h"

#define MECH_TOKEN	65536	/* room for the longest token of a context */
#define MECH_MIC	400	/* and for the longest checksum */

/* What came of a client's token. */
struct mech_answer {
	uint32_t	major;
	uint32_t	minor;
	bool		complete;
	uint32_t	len;
	uint8_t		token[MECH_TOKEN];
};

void mech_accept(void **context, const uint8_t *token, size_t len, struct mech_answer *answer);
bool mech_verify(void *context, const uint8_t *data, size_t len, const uint8_t *mic, size_t mic_len);
void mech_sign(void *context, const void *data, size_t len, struct writer *out);
void mech_close(void **context);

#endif /* RIG_MECH_H */
