/* SPDX-License-Identifier: Apache-2.0 */
/* A library as an extension module would bring one: its functions wait for a byte that never comes. */
#include <unistd.h>

int library_waits(int fd);
int library_waits_below(int fd);

static __attribute__((noinline)) int hidden_wait(int fd)
{
	char byte;
	int got = (int)read(fd, &byte, 1);

	/* What follows keeps the calls from becoming jumps. */
	__asm__ volatile("" ::: "memory");
	return got + 1;
}

int library_waits(int fd)
{
	return hidden_wait(fd) + 1;
}

int library_waits_below(int fd)
{
	return library_waits(fd) + 1;
}
