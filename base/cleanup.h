/* SPDX-License-Identifier: Apache-2.0 */
/* Scope attributes: what is declared with one is released when the scope ends. */
#ifndef AIOTRACE_BASE_CLEANUP_H
#define AIOTRACE_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void cleanup_closedir(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define auto_free     __attribute__((cleanup(cleanup_free)))
#define auto_close    __attribute__((cleanup(cleanup_close)))
#define auto_fclose   __attribute__((cleanup(cleanup_fclose)))
#define auto_closedir __attribute__((cleanup(cleanup_closedir)))

#endif
