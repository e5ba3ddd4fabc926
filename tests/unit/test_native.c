/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native stacks: registers and stacks of a child's threads copied in a stop, unwound when it has run on; and the merge with a Python stack, on made-up frames.
 */
#include "attach/live.h"
#include "attach/target.h"
#include "base/clock.h"
#include "check.h"
#include "unwind/native/native.h"
#include "unwind/native/unwinder.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND	   ((uint64_t)1000000000)
#define FRAMES_MAX 100u
#define MARK	   UINT64_C(0x5ca1ab1e0ddba115)

/* Shared by us and the child. */
struct shared {
	_Atomic uint64_t turns;
	_Atomic uint64_t mark; /* address of the spinning thread's mark */
	_Atomic pid_t spins, waits;
};

static struct shared *shared;

int unit_waits(int fd);
int unit_spins(void);

/* Visible symbols: what the names are compared with. No inlining, no jumps instead of calls. */
__attribute__((noinline)) int unit_waits(int fd)
{
	char byte;
	int got = (int)read(fd, &byte, 1);

	__asm__ volatile("" ::: "memory");
	return got + 1;
}

__attribute__((noinline)) int unit_spins(void)
{
	volatile uint64_t mark = MARK;

	shared->mark = (uint64_t)(uintptr_t)&mark;
	for (;;)
		shared->turns++;
	return 0;
}

static void *spin_main(void *arg)
{
	(void)arg;
	shared->spins = gettid();
	return unit_spins() ? shared : NULL;
}

static pid_t child_start(void)
{
	int never[2];
	pthread_t t;
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	pid = fork();
	if (pid)
		return pid;
	if (pipe(never) != 0 || pthread_create(&t, NULL, spin_main, NULL) != 0)
		_exit(9);
	while (!shared->turns)
		;
	shared->waits = gettid();
	unit_waits(never[0]);
	_exit(0);
}

static void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool settles(pid_t pid)
{
	uint64_t end = clock_now_ns() + 10 * SECOND;
	struct proc_thread t;

	while (!shared->waits || proc_thread_read(pid, shared->waits, &t) != ERR_OK ||
	       t.state != 'S') {
		if (clock_now_ns() > end)
			return false;
		sched_yield();
	}
	return true;
}

/* Stops both threads and copies; they run on when it returns. */
static bool copy_stacks(pid_t pid, struct stacks *s)
{
	const pid_t tids[] = {shared->waits, shared->spins};
	struct freeze *f = NULL;

	if (!CHECK(stacks_prepare(pid, 2, s, NULL) == ERR_OK) ||
	    !CHECK(freeze_begin(pid, tids, 2, clock_now_ns() + 10 * SECOND, &f, NULL) == ERR_OK))
		return false;
	CHECK(freeze_registers(f, tids[0]) != NULL);
	CHECK(freeze_registers(f, pid + 1000000) == NULL);
	stacks_copy(s, f, tids, 2, clock_now_ns() + 10 * SECOND);
	freeze_end(f);
	return CHECK_EQUAL(s->count, 2);
}

/* A word of the copied stack; false outside of it. */
static bool copied_word(const struct stack_copy *c, vaddr at, uint64_t *ret)
{
	if (at < c->start || at - c->start + sizeof(*ret) > c->len)
		return false;
	memcpy(ret, c->bytes + (at - c->start), sizeof(*ret));
	return true;
}

static void check_copies(const struct stacks *s)
{
	uint64_t word = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct stack_copy *c = &s->v[i];
		const struct map *map = maps_find(&s->maps, c->start);
		vaddr sp = registers_sp(&c->registers);

		/* From the stack pointer to the mapping's end, or as much of it as is allowed. */
		CHECK(map && map->write && c->start <= sp && sp - c->start <= 128 + 8);
		CHECK(map && (c->start + c->len == map->end || c->len == STACK_COPY_MAX));
		CHECK(maps_find(&s->maps, registers_pc(&c->registers)) != NULL);
	}
	CHECK(copied_word(&s->v[1], shared->mark, &word));
	CHECK(word == MARK);
}

/* The function of that name among the thread's frames, its place; FRAMES_MAX: not there. */
static uint32_t frame_named(struct images *images, const struct native_frame *v, uint32_t count,
			    const char *name)
{
	for (uint32_t n = 0; n < count; n++) {
		struct native_name found;

		native_name(images, v[n].image, v[n].pc, v[n].start, v[n].call, &found);
		if (found.function && strcmp(found.function, name) == 0)
			return n;
	}
	return FRAMES_MAX;
}

static void check_unwound(pid_t pid, struct mem *mem, struct stacks *s)
{
	static struct native_frame v[FRAMES_MAX];
	struct images images = {.pid = pid, .mem = mem, .maps = &s->maps};
	const char *const names[] = {"unit_waits", "unit_spins"};
	uint32_t count, few;
	bool complete;

	for (size_t i = 0; i < s->count; i++) {
		CHECK_EQUAL(unwinder_walk(&images, &s->v[i], v, FRAMES_MAX, &count, &complete),
			    ERR_OK);
		CHECK(complete);
		CHECK(count >= 2 && count < FRAMES_MAX);
		CHECK(v[0].pc == registers_pc(&s->v[i].registers) && !v[0].call);
		for (uint32_t n = 1; n < count; n++)
			CHECK(v[n].sp > v[n - 1].sp && v[n].call);
		CHECK(frame_named(&images, v, count, names[i]) < 4);
		CHECK_EQUAL(frame_named(&images, v, count, names[1 - i]), FRAMES_MAX);
		/* Bounded, and said to be cut. */
		CHECK_EQUAL(unwinder_walk(&images, &s->v[i], v, 1, &few, &complete), ERR_OK);
		CHECK_EQUAL(few, 1);
		CHECK(!complete);
	}
	/* A stack of which little was copied ends early, and is no error. */
	s->v[0].len = 64;
	CHECK_EQUAL(unwinder_walk(&images, &s->v[0], v, FRAMES_MAX, &few, &complete), ERR_OK);
	CHECK(few >= 1 && few < FRAMES_MAX && !complete);
	images_deinit(&images);
}

static void test_live(void)
{
	pid_t pid = child_start();
	struct mem *mem = NULL;

	CHECK(settles(pid));
	CHECK(mem_create(&live_source, live_create(pid), (size_t)64 << 20, &mem) == ERR_OK);
	for (int i = 0; i < 50; i++) {
		struct stacks s = {0};

		if (!copy_stacks(pid, &s))
			break;
		check_copies(&s);
		check_unwound(pid, mem, &s);
		stacks_deinit(&s);
	}
	mem_destroy(mem);
	child_end(pid);
}

/* The vDSO has no file: its symbols are those in memory. */
static void test_symbols_in_memory(void)
{
	pid_t pid = child_start();
	struct maps maps = {0};
	struct mem *mem = NULL;
	struct elf_image *image = NULL;
	struct elf_symbols *symbols = NULL;
	const struct map *vdso = NULL;
	vaddr at = 0;
	uint64_t size = 0;

	CHECK(settles(pid));
	CHECK(mem_create(&live_source, live_create(pid), (size_t)64 << 20, &mem) == ERR_OK);
	CHECK(maps_load(pid, &maps, NULL) == ERR_OK);
	for (size_t i = 0; i < maps.count; i++) {
		if (strcmp(maps.v[i].path, "[vdso]") == 0)
			vdso = &maps.v[i];
	}
	if (CHECK(vdso != NULL) && CHECK(elf_open(pid, mem, &maps, vdso, &image) == ERR_OK) &&
	    CHECK(elf_symbols_create(&symbols) == ERR_OK)) {
		CHECK(elf_symbols_add_image(symbols, image) == ERR_OK);
		CHECK(elf_dynamic_symbol(image, "__vdso_clock_gettime", &at, &size) == ERR_OK &&
		      size > 1);
		at -= elf_bias(image);
		/* Of two names the one without underscores; a function ends where its size says. */
		CHECK_TEXT(elf_symbols_find(symbols, at, 0), "clock_gettime");
		CHECK_TEXT(elf_symbols_find(symbols, at + size - 1, 0), "clock_gettime");
		CHECK(elf_symbols_find(symbols, 1, 0) == NULL);
	}
	elf_symbols_destroy(symbols);
	elf_close(image);
	maps_deinit(&maps);
	mem_destroy(mem);
	child_end(pid);
}

/* --- the merge */

struct made {
	struct model *m;
	struct arena scratch;
	struct eval_calls evals;
	struct reader r;
	uint32_t thread;
	struct map map;
	struct maps maps;
	struct image image;
	struct images images;
};

static void made_init(struct made *k)
{
	*k = (struct made){0};
	if (model_create(&k->m) != ERR_OK || !arena_init(&k->scratch, (size_t)64 << 20))
		exit(2);
	k->r = (struct reader){.model = k->m, .scratch = &k->scratch, .evals = &k->evals};
	k->thread = model_add_thread(k->m, 1);
	k->map = (struct map){.start = 0x1000, .end = 0x9000, .exec = true, .path = "/lib/libx.so"};
	k->maps = (struct maps){&k->map, 1, NULL};
	k->image = (struct image){.first = &k->map, .end = k->map.end, .names_tried = true};
	k->images = (struct images){.maps = &k->maps};
}

static void made_deinit(struct made *k)
{
	model_destroy(k->m);
	arena_deinit(&k->scratch);
	free(k->evals.v);
}

/* The next older call comes first: `frames` Python functions that are named in turn from `first` on. */
static void made_call(struct made *k, uint32_t thread, vaddr inside, char first, uint32_t frames)
{
	struct eval_calls *e = &k->evals;
	uint32_t *chain = &k->m->threads.v[thread].chain;

	e->v = realloc(e->v, (e->count + 1) * sizeof(*e->v));
	e->v[e->count++] = (struct eval_call){thread, frames, inside};
	for (uint32_t n = 0; n < frames; n++) {
		const char name = (char)(first + (char)n);

		*chain = model_push(
			k->m, *chain,
			model_intern_frame(k->m, (struct str){&name, 1}, STR_LIT("x.py"), 1));
	}
}

/* The merged stack, outermost first, without the native frames' image: "+1000 a b +2000". */
static const char *made_merge(struct made *k, const vaddr *sps, uint32_t count)
{
	static char text[400];
	struct native_frame frames[8];
	uint32_t node, rows[64], depth;

	for (uint32_t n = 0; n < count; n++)
		frames[n] = (struct native_frame){
			.pc = 0x1000 * (n + 1), .sp = sps[n], .image = &k->image};
	node = native_merge(&k->r, &k->images, k->thread, frames, count);
	text[0] = '\0';
	if (node == NONE)
		return "none";
	depth = k->m->chains.v[node].depth;
	for (uint32_t n = depth; n > 0; n--, node = k->m->chains.v[node].outer)
		rows[n - 1] = k->m->chains.v[node].frame;
	for (uint32_t n = 0; n < depth; n++) {
		struct str s = k->m->frames.v[rows[n]].function;
		bool native = k->m->frames.v[rows[n]].image.ptr != NULL;
		uint32_t skip = native ? (uint32_t)strlen("libx.so") : 0;

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%.*s", n ? " " : "",
			 (int)(s.len - skip), s.ptr + skip);
	}
	return text;
}

static const vaddr sps[] = {0x7100, 0x7200, 0x7300, 0x7400};

static void test_merge_places(void)
{
	struct made k;

	made_init(&k);
	/* Offsets are the frames' pcs; of innermost to outermost 0x1000 to 0x4000, less the mapping's start. */
	CHECK_TEXT(made_merge(&k, sps, 4), "+0x3000 +0x2000 +0x1000 +0x0");
	/* The older call runs a and b in the third C frame, the newer one c in the first; the ends of a frame's memory count. */
	made_call(&k, k.thread, 0x73ff, 'a', 2);
	made_call(&k, k.thread, 0x7100, 'c', 1);
	CHECK_TEXT(made_merge(&k, sps, 4), "+0x3000 a b +0x1000 c");
	made_deinit(&k);
}

static void test_merge_leaves_none_out(void)
{
	struct made k;

	made_init(&k);
	/* Calls of other threads lie between; one that has no C frame of its own stands in its order. */
	made_call(&k, k.thread, 0, 'a', 1);
	made_call(&k, model_add_thread(k.m, 2), 0x7200, 'x', 3);
	made_call(&k, k.thread, 0x7250, 'b', 1);
	made_call(&k, k.thread, 0x9999, 'c', 2);
	made_call(&k, k.thread, 0x7150, 'e', 1);
	CHECK_TEXT(made_merge(&k, sps, 4), "a +0x3000 +0x2000 b c d e");
	/* A stack that was cut: what lies outside of it stands outside. */
	CHECK_TEXT(made_merge(&k, sps, 2), "a b c d +0x1000 e");
	CHECK_TEXT(made_merge(&k, sps, 0), "a b c d e");
	made_deinit(&k);
}

static void test_merge_trusts_no_count(void)
{
	struct made k;

	made_init(&k);
	made_call(&k, k.thread, 0x7150, 'a', 1);
	k.evals.v[0].frames = 1000000;
	CHECK_TEXT(made_merge(&k, sps, 2), "+0x1000 a");
	made_deinit(&k);
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 2;
	test_live();
	test_symbols_in_memory();
	test_merge_places();
	test_merge_leaves_none_out();
	test_merge_trusts_no_count();
	return check_result("native");
}
