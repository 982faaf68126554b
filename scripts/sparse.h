/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What Debian's sparse 0.6.4 lacks for a 7.3 kernel; scripts/lint has it read before each source.
 * Qualifiers that typeof keeps, and lengths of strings that are no array, come out wrong, on the
 * base as on the series.
 */
#define __typeof_unqual__ __typeof__
#define __builtin_strlen(string) (sizeof(string) - 1)
