/* SPDX-License-Identifier: Apache-2.0 */
/* strtoul and strtod take more than a person should type here: signs, blanks, hexadecimal, "inf". */
#include "cmd/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *ret)
{
	unsigned long long n;

	if (!text[0] || text[strspn(text, "0123456789")])
		return false;
	errno = 0;
	n = strtoull(text, NULL, 10);
	if (errno || n < least || n > most)
		return false;
	*ret = n;
	return true;
}

bool number_parse_seconds(const char *text, double least, double most, double *ret)
{
	char *end;
	double n;

	if (!text[0] || text[strspn(text, "0123456789.")])
		return false;
	n = strtod(text, &end);
	if (*end || !(n >= least && n <= most))
		return false;
	*ret = n;
	return true;
}
