/* SPDX-License-Identifier: Apache-2.0 */
/* The page cache over an image: reads across pages and holes, bulk fetches, the footprint copied and compared again, budget and deadline. */
#include "attach/image.h"
#include "attach/mem.h"
#include "base/clock.h"
#include "check.h"

#include <errno.h>
#include <stdlib.h>

#define BASE   ((vaddr)0x7f0000000000)
#define BUDGET ((size_t)64 << 20)

/* Byte at an address, so that each read can be checked without a copy of the image. */
static unsigned char pattern(vaddr at)
{
	return (unsigned char)((at * 2654435761u) >> 13);
}

static void map_pages(void *image, vaddr at, size_t pages)
{
	static unsigned char bytes[MEM_PAGE];

	for (size_t p = 0; p < pages; p++) {
		for (size_t i = 0; i < MEM_PAGE; i++)
			bytes[i] = pattern(at + p * MEM_PAGE + i);
		CHECK(image_map(image, at + p * MEM_PAGE, bytes, MEM_PAGE) == ERR_OK);
	}
}

static bool read_is_right(struct mem *m, vaddr at, size_t len)
{
	unsigned char *bytes = malloc(len);
	bool ok = bytes && mem_read(m, at, bytes, len) == ERR_OK;

	for (size_t i = 0; ok && i < len; i++)
		ok = bytes[i] == pattern(at + i);
	free(bytes);
	return ok;
}

static enum err read_byte(struct mem *m, vaddr at)
{
	unsigned char byte;

	return mem_read(m, at, &byte, 1);
}

static struct mem *open_image(void **image_ret, size_t budget)
{
	struct mem *m = NULL;

	*image_ret = image_create();
	if (!*image_ret || mem_create(&image_source, *image_ret, budget, &m) != ERR_OK)
		exit(2);
	return m;
}

static void test_reads(void)
{
	void *image;
	struct mem *m = open_image(&image, BUDGET);
	uint64_t calls;

	map_pages(image, BASE, 300);
	CHECK(read_is_right(m, BASE, 1));
	CHECK(read_is_right(m, BASE + MEM_PAGE - 3, 7));
	CHECK(read_is_right(m, BASE + 5 * MEM_PAGE - 8, 3 * MEM_PAGE));
	CHECK(read_is_right(m, BASE + 17, 290 * MEM_PAGE));
	CHECK(read_is_right(m, BASE + 300 * MEM_PAGE - 1, 1));
	calls = mem_stats(m).calls;
	CHECK(read_is_right(m, BASE + 17, 290 * MEM_PAGE));
	CHECK_EQUAL(mem_stats(m).calls, calls);
	mem_destroy(m);
}

static void test_unreadable(void)
{
	void *image;
	struct mem *m = open_image(&image, BUDGET);
	unsigned char bytes[3 * MEM_PAGE];

	/* Pages 0, 1, 3 and 9 are there. */
	map_pages(image, BASE, 2);
	map_pages(image, BASE + 3 * MEM_PAGE, 1);
	map_pages(image, BASE + 9 * MEM_PAGE, 1);
	CHECK_EQUAL(read_byte(m, BASE + 2 * MEM_PAGE), ERR_FAULT);
	CHECK_EQUAL(mem_stats(m).calls, 1);
	CHECK_EQUAL(read_byte(m, BASE + 2 * MEM_PAGE + 99), ERR_FAULT);
	CHECK_EQUAL(mem_stats(m).calls, 1);
	CHECK(read_is_right(m, BASE + 3 * MEM_PAGE, MEM_PAGE));
	CHECK(read_is_right(m, BASE, 2 * MEM_PAGE));
	CHECK(read_is_right(m, BASE + 9 * MEM_PAGE + 8, 8));
	CHECK_EQUAL(mem_read(m, BASE + MEM_PAGE, bytes, sizeof(bytes)), ERR_FAULT);
	CHECK(!mem_peek(m, BASE + 2 * MEM_PAGE, 8));
	CHECK(!mem_peek(m, BASE + MEM_PAGE - 4, 8));
	CHECK(mem_peek(m, BASE + MEM_PAGE - 8, 8) != NULL);
	/* Never asked for: the first page, addresses that no process has, and ranges that wrap around. */
	CHECK_EQUAL(read_byte(m, 0), ERR_FAULT);
	CHECK_EQUAL(read_byte(m, 0xdddddddddddddddd), ERR_FAULT);
	CHECK_EQUAL(mem_read(m, UINT64_MAX - 1, bytes, 8), ERR_FAULT);
	CHECK(!mem_peek(m, UINT64_MAX, 8));
	mem_want(m, UINT64_MAX - 4, SIZE_MAX);
	mem_fetch(m);
	CHECK_EQUAL(mem_hard_error(m), ERR_OK);
	mem_destroy(m);
}

static void test_fetch(void)
{
	void *image;
	struct mem *m = open_image(&image, BUDGET);
	uint64_t calls;

	map_pages(image, BASE, 4000);
	/* Every second page, backwards, with a hole and a page wished for twice. */
	for (vaddr n = 3999; n < 4000; n -= 2)
		mem_want(m, BASE + n * MEM_PAGE + 5, 8);
	mem_want(m, BASE + 4000 * MEM_PAGE, 1);
	mem_want(m, BASE + 7 * MEM_PAGE, 1);
	mem_fetch(m);
	calls = mem_stats(m).calls;
	CHECK(calls <= 4);
	CHECK_EQUAL(mem_stats(m).pages, 2000);
	for (vaddr n = 1; n < 4000; n += 2)
		CHECK(read_is_right(m, BASE + n * MEM_PAGE, MEM_PAGE));
	CHECK_EQUAL(read_byte(m, BASE + 4000 * MEM_PAGE), ERR_FAULT);
	CHECK_EQUAL(mem_stats(m).calls, calls);
	/* Nothing wanted, nothing asked. */
	mem_fetch(m);
	CHECK_EQUAL(mem_stats(m).calls, calls);
	mem_forget(m);
	CHECK_EQUAL(mem_stats(m).pages, 0);
	CHECK(read_is_right(m, BASE, 8));
	CHECK_EQUAL(mem_misses(m), 1);
	mem_destroy(m);
}

static void test_recheck(void)
{
	void *image;
	struct mem *m = open_image(&image, BUDGET);
	uint64_t changed = 99;

	map_pages(image, BASE, 3000);
	for (vaddr n = 0; n < 3000; n++)
		CHECK(read_is_right(m, BASE + n * MEM_PAGE + 128, 64));
	mem_recheck(m, &changed);
	CHECK_EQUAL(changed, 0);
	/* The line before and the line after one that was used. */
	CHECK(image_map(image, BASE + 127, "?", 1) == ERR_OK);
	CHECK(image_map(image, BASE + 192, "?", 1) == ERR_OK);
	mem_recheck(m, &changed);
	CHECK_EQUAL(changed, 0);
	CHECK(image_map(image, BASE + 2999 * MEM_PAGE + 191, "\x01\x02", 2) == ERR_OK);
	mem_recheck(m, &changed);
	CHECK_EQUAL(changed, 1);
	/* A read that goes over two lines uses both. */
	CHECK(mem_peek(m, BASE + 100 * MEM_PAGE + 250, 16) != NULL);
	CHECK(image_map(image, BASE + 100 * MEM_PAGE + 192, "\x01\x02", 2) == ERR_OK);
	CHECK(image_map(image, BASE + 100 * MEM_PAGE + 256, "\x01\x02", 2) == ERR_OK);
	mem_recheck(m, &changed);
	CHECK_EQUAL(changed, 3);
	mem_destroy(m);
}

static void test_refresh(void)
{
	void *image;
	struct mem *m = open_image(&image, BUDGET);
	uint64_t changed, calls;
	unsigned char byte;

	map_pages(image, BASE, 500);
	for (vaddr n = 499; n < 500; n--)
		CHECK(read_is_right(m, BASE + n * MEM_PAGE, 64));
	CHECK_EQUAL(read_byte(m, BASE + 600 * MEM_PAGE), ERR_FAULT);
	CHECK(mem_misses(m) > 0);
	CHECK(image_map(image, BASE + 3 * MEM_PAGE, "\x55", 1) == ERR_OK);
	map_pages(image, BASE + 600 * MEM_PAGE, 1);
	calls = mem_stats(m).calls;
	mem_refresh(m);
	CHECK(mem_stats(m).calls - calls <= 2);
	CHECK_EQUAL(mem_misses(m), 0);
	CHECK(mem_read(m, BASE + 3 * MEM_PAGE, &byte, 1) == ERR_OK && byte == 0x55);
	for (vaddr n = 4; n < 500; n++)
		CHECK(read_is_right(m, BASE + n * MEM_PAGE, MEM_PAGE));
	/* Bad before, there now. */
	CHECK(read_is_right(m, BASE + 600 * MEM_PAGE, 64));
	CHECK_EQUAL(mem_misses(m), 0);
	CHECK_EQUAL(read_byte(m, BASE + 700 * MEM_PAGE), ERR_FAULT);
	CHECK_EQUAL(mem_misses(m), 1);
	/* The marks of the first pass are gone. */
	mem_refresh(m);
	CHECK(image_map(image, BASE + 9 * MEM_PAGE, "\x55", 1) == ERR_OK);
	mem_recheck(m, &changed);
	CHECK_EQUAL(changed, 0);
	mem_destroy(m);
}

/* What many copies in a row brought for nothing is left out; one use in between keeps it. */
static void test_idle_pages(void)
{
	void *image;
	struct mem *m = open_image(&image, BUDGET);
	uint64_t bytes;

	map_pages(image, BASE, 100);
	for (vaddr n = 0; n < 100; n++)
		CHECK(read_is_right(m, BASE + n * MEM_PAGE, 64));
	for (int i = 0; i < 16; i++) {
		mem_refresh(m);
		CHECK_EQUAL(mem_stats(m).pages, 100);
		CHECK(read_is_right(m, BASE + 7 * MEM_PAGE, 64));
		if (i == 8)
			CHECK(read_is_right(m, BASE + 50 * MEM_PAGE, 64));
	}
	mem_refresh(m);
	CHECK_EQUAL(mem_stats(m).pages, 2);
	CHECK_EQUAL(mem_misses(m), 0);
	bytes = mem_stats(m).bytes;
	mem_refresh(m);
	CHECK_EQUAL(mem_stats(m).bytes - bytes, 2 * MEM_PAGE);
	/* They come back when they are asked for. */
	for (vaddr n = 0; n < 100; n++)
		CHECK(read_is_right(m, BASE + n * MEM_PAGE, MEM_PAGE));
	mem_destroy(m);
}

/* A source whose second half can be taken away, and that can go altogether. */
struct half {
	bool cut;
	int64_t answer; /* not 0: for every read */
};

static int64_t half_read(void *ctx, const struct mem_range *ranges, size_t count)
{
	const struct half *h = ctx;
	int64_t total = 0;

	for (size_t i = 0; i < count && !h->answer; i++) {
		for (size_t k = 0; k < ranges[i].len; k++) {
			vaddr at = ranges[i].at + k;

			if (at % MEM_PAGE == 0 && h->cut && at >= BASE + 50 * MEM_PAGE)
				return total ? total : -EFAULT;
			((unsigned char *)ranges[i].dst)[k] = pattern(at);
			total++;
		}
	}
	return h->answer ? h->answer : total;
}

static const struct mem_source half_source = {.name = "half", .read = half_read};

static void test_pages_that_go(void)
{
	struct half h = {0};
	struct mem *m = NULL;
	uint64_t changed = 0;

	if (mem_create(&half_source, &h, BUDGET, &m) != ERR_OK)
		exit(2);
	for (vaddr n = 0; n < 100; n++)
		CHECK(read_is_right(m, BASE + n * MEM_PAGE, 100));
	h.cut = true;
	mem_recheck(m, &changed);
	CHECK_EQUAL(changed, 2 * 50);
	mem_refresh(m);
	CHECK_EQUAL(mem_stats(m).pages, 50);
	CHECK(read_is_right(m, BASE + 49 * MEM_PAGE, 100));
	CHECK_EQUAL(read_byte(m, BASE + 50 * MEM_PAGE), ERR_FAULT);
	CHECK_EQUAL(mem_misses(m), 0);
	/* The process ends: what is held stays readable, what is not is an error for good. */
	h.answer = -ESRCH;
	CHECK(read_is_right(m, BASE + 49 * MEM_PAGE, 100));
	CHECK_EQUAL(read_byte(m, BASE + 200 * MEM_PAGE), ERR_GONE);
	h.answer = 0;
	CHECK_EQUAL(read_byte(m, BASE + 20000 * MEM_PAGE), ERR_GONE);
	CHECK_EQUAL(mem_hard_error(m), ERR_GONE);
	mem_recheck(m, &changed);
	CHECK(changed > 0);
	mem_destroy(m);
}

static void test_refused(void)
{
	struct half h = {.answer = -EPERM};
	struct mem *m = NULL;

	if (mem_create(&half_source, &h, BUDGET, &m) != ERR_OK)
		exit(2);
	CHECK_EQUAL(read_byte(m, BASE), ERR_ACCESS);
	CHECK_EQUAL(mem_hard_error(m), ERR_ACCESS);
	mem_destroy(m);
}

/* A source in which nothing below STACK_START can be read; how many such pages are asked for is counted. */
struct stack {
	uint64_t asked_below; /* pages */
};

#define STACK_START (BASE + 67 * MEM_PAGE) /* inside a stretch, whatever its size */

static int64_t stack_read(void *ctx, const struct mem_range *ranges, size_t count)
{
	struct stack *s = ctx;
	int64_t total = 0;

	for (size_t i = 0; i < count; i++) {
		for (vaddr at = ranges[i].at; at < ranges[i].at + ranges[i].len; at += MEM_PAGE)
			s->asked_below += at < STACK_START;
	}
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < ranges[i].len; k++) {
			if (ranges[i].at + k < STACK_START)
				return total ? total : -EFAULT;
			((unsigned char *)ranges[i].dst)[k] = pattern(ranges[i].at + k);
			total++;
		}
	}
	return total;
}

static const struct mem_source stack_source = {.name = "stack", .read = stack_read};

/* Pages below the start of the stack that were asked for by reads of each page of it from `first` on, upwards or downwards. */
static uint64_t asked_below(bool guarded, vaddr first, vaddr step)
{
	struct stack s = {0};
	struct mem *m = NULL;

	if (mem_create(&stack_source, &s, BUDGET, &m) != ERR_OK)
		exit(2);
	if (guarded)
		mem_set_no_ahead(m, STACK_START - 16 * MEM_PAGE, STACK_START);
	for (vaddr n = first; n < 200; n += step)
		CHECK(read_is_right(m, STACK_START + n * MEM_PAGE, 64));
	/* As in a second look at the same target. */
	mem_forget(m);
	CHECK(read_is_right(m, STACK_START + 2 * MEM_PAGE, 64));
	CHECK(read_is_right(m, STACK_START + MEM_PAGE, 8 * MEM_PAGE));
	mem_want(m, STACK_START, 10 * MEM_PAGE);
	mem_fetch(m);
	mem_refresh(m);
	if (guarded)
		CHECK_EQUAL(s.asked_below, 0);
	else
		CHECK(s.asked_below > 0); /* what this is about */
	/* Who asks for such a page by its address gets an answer, and that of this page alone. */
	CHECK_EQUAL(read_byte(m, STACK_START - 5 * MEM_PAGE), ERR_FAULT);
	mem_destroy(m);
	return s.asked_below;
}

static void test_no_ahead(void)
{
	CHECK_EQUAL(asked_below(true, 0, 1), 1);
	CHECK_EQUAL(asked_below(true, 199, (vaddr)-1), 1);
	CHECK(asked_below(false, 0, 1) > 1);
}

static void test_budget(void)
{
	void *image;
	struct mem *m = open_image(&image, 10 * MEM_PAGE);
	size_t good = 0, bound = 0;

	map_pages(image, BASE, 200);
	for (vaddr n = 0; n < 200; n += 10) {
		enum err err = read_byte(m, BASE + n * MEM_PAGE);

		good += err == ERR_OK;
		bound += err == ERR_BOUND;
	}
	CHECK(good >= 2 && good <= 10);
	CHECK_EQUAL(good + bound, 20);
	CHECK(mem_stats(m).pages <= 10);
	mem_want(m, BASE, 200 * MEM_PAGE);
	mem_fetch(m);
	CHECK(mem_stats(m).pages <= 10);
	mem_forget(m);
	CHECK_EQUAL(read_byte(m, BASE + 150 * MEM_PAGE), ERR_OK);
	mem_destroy(m);
}

static void test_deadline(void)
{
	void *image;
	struct mem *m = open_image(&image, BUDGET);
	uint64_t calls, changed = 0;

	map_pages(image, BASE, 200);
	mem_set_deadline(m, clock_now_ns() + 3600 * (uint64_t)1000000000);
	CHECK_EQUAL(read_byte(m, BASE), ERR_OK);
	CHECK(!mem_deadline_hit(m));
	mem_set_deadline(m, clock_now_ns());
	calls = mem_stats(m).calls;
	CHECK_EQUAL(read_byte(m, BASE), ERR_OK);
	CHECK(!mem_deadline_hit(m));
	CHECK_EQUAL(read_byte(m, BASE + 100 * MEM_PAGE), ERR_DEADLINE);
	CHECK(mem_deadline_hit(m));
	mem_want(m, BASE + 100 * MEM_PAGE, 1);
	mem_fetch(m);
	mem_recheck(m, &changed);
	CHECK_EQUAL(changed, 1); /* no proof without a look */
	CHECK_EQUAL(mem_stats(m).calls, calls);
	mem_set_deadline(m, 0);
	CHECK_EQUAL(read_byte(m, BASE + 100 * MEM_PAGE), ERR_OK);
	mem_destroy(m);
}

int main(void)
{
	test_reads();
	test_unreadable();
	test_fetch();
	test_recheck();
	test_refresh();
	test_idle_pages();
	test_pages_that_go();
	test_refused();
	test_no_ahead();
	test_budget();
	test_deadline();
	return check_result("mem");
}
