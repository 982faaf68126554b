/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A server's connections: records come in, and answers to some of them go out.
 */
#ifndef RIG_FLOW_H
#define RIG_FLOW_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdr.h"

#define FLOW_ANSWER	(72 << 10)	/* room that an answer gets */

/* Answers a record, which comes without its mark; returns whether there is an answer. */
typedef bool (*flow_answer)(const uint8_t *record, size_t len, struct writer *out);

int flow_listen(unsigned long port);
void flow_serve(int listener, flow_answer answer, volatile sig_atomic_t *end);

#endif /* RIG_FLOW_H */
