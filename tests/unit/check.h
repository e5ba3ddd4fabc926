/* SPDX-License-Identifier: Apache-2.0 */
/* What a C unit test needs: checks that say where they failed and go on, and an exit code. */
#ifndef AIOTRACE_TESTS_CHECK_H
#define AIOTRACE_TESTS_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int check_failures, check_count;

static inline bool check_that(bool ok, const char *what, const char *file, int line)
{
	check_count++;
	if (!ok) {
		check_failures++;
		fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
	}
	return ok;
}

static inline bool check_number(long long got, long long want, const char *what, const char *file,
				int line)
{
	check_count++;
	if (got == want)
		return true;
	check_failures++;
	fprintf(stderr, "%s:%d: failed: %s is %lld, not %lld\n", file, line, what, got, want);
	return false;
}

static inline bool check_text(const char *got, const char *want, const char *what, const char *file,
			      int line)
{
	check_count++;
	if (got && strcmp(got, want) == 0)
		return true;
	check_failures++;
	fprintf(stderr, "%s:%d: failed: %s is\n%s\n--- instead of\n%s\n---\n", file, line, what,
		got ? got : "NULL", want);
	return false;
}

#define CHECK(what) check_that((what), #what, __FILE__, __LINE__)
#define CHECK_EQUAL(got, want) \
	check_number((long long)(got), (long long)(want), #got, __FILE__, __LINE__)
#define CHECK_TEXT(got, want) check_text((got), (want), #got, __FILE__, __LINE__)

/* For the end of main. */
static inline int check_result(const char *name)
{
	printf("%s: %d checks, %d failed\n", name, check_count, check_failures);
	return check_failures ? 1 : 0;
}

#endif
