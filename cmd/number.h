/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers on the command line: decimal digits and nothing else around them. */
#ifndef AIOTRACE_CMD_NUMBER_H
#define AIOTRACE_CMD_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Both bounds inclusive. */
bool number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *ret);
/* Decimal, with or without a fraction; finite. */
bool number_parse_seconds(const char *text, double least, double most, double *ret);

#endif
