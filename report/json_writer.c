/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that knows yajl. */
#include "report/json_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <yajl/yajl_gen.h>

struct json_writer {
	yajl_gen gen;
	FILE *out;
	bool failed; /* the generator's word: a bug or no memory */
	int sys; /* errno of the first write that failed */
};

static void print(void *ctx, const char *text, size_t len)
{
	struct json_writer *w = ctx;

	if (!w->sys && fwrite(text, 1, len, w->out) != len)
		w->sys = errno ? errno : EIO;
}

static void check(struct json_writer *w, yajl_gen_status status)
{
	w->failed |= status != yajl_gen_status_ok;
}

struct json_writer *json_open(FILE *out)
{
	struct json_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->gen = yajl_gen_alloc(NULL);
	if (!w->gen) {
		free(w);
		return NULL;
	}
	w->out = out;
	yajl_gen_config(w->gen, yajl_gen_print_callback, print, w);
	yajl_gen_config(w->gen, yajl_gen_validate_utf8, 1);
	return w;
}

enum err json_close(struct json_writer *w, struct error *e)
{
	int sys;
	bool failed;

	print(w, "\n", 1);
	if (fflush(w->out) != 0 && !w->sys)
		w->sys = errno ? errno : EIO;
	sys = w->sys;
	failed = w->failed;
	yajl_gen_free(w->gen);
	free(w);
	if (sys)
		return error_set(e, ERR_SYSTEM, sys, "can't write to standard output: %s",
				 strerror(sys));
	return failed ? error_set(e, ERR_SYSTEM, 0, "the JSON document could not be made") : ERR_OK;
}

void json_fail(struct json_writer *w)
{
	w->failed = true;
}

void json_map(struct json_writer *w)
{
	check(w, yajl_gen_map_open(w->gen));
}

void json_map_end(struct json_writer *w)
{
	check(w, yajl_gen_map_close(w->gen));
}

void json_list(struct json_writer *w)
{
	check(w, yajl_gen_array_open(w->gen));
}

void json_list_end(struct json_writer *w)
{
	check(w, yajl_gen_array_close(w->gen));
}

void json_key(struct json_writer *w, const char *key)
{
	json_word(w, key);
}

void json_str(struct json_writer *w, struct str s)
{
	if (s.ptr)
		check(w, yajl_gen_string(w->gen, (const unsigned char *)s.ptr, s.len));
	else
		json_null(w);
}

void json_word(struct json_writer *w, const char *word)
{
	json_str(w, str_from(word));
}

void json_int(struct json_writer *w, int64_t n)
{
	check(w, yajl_gen_integer(w->gen, n));
}

/* With the digits that a person can use: yajl's own form has 17 of them. */
void json_double(struct json_writer *w, double d)
{
	char text[40];
	int n;

	if (!isfinite(d)) {
		json_null(w);
		return;
	}
	n = snprintf(text, sizeof(text), "%.6f", d);
	check(w, yajl_gen_number(w->gen, text,
				 (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1));
}

void json_bool(struct json_writer *w, bool b)
{
	check(w, yajl_gen_bool(w->gen, b));
}

void json_null(struct json_writer *w)
{
	check(w, yajl_gen_null(w->gen));
}

void json_id(struct json_writer *w, vaddr id)
{
	char text[20];

	snprintf(text, sizeof(text), "0x%" PRIx64, id);
	json_word(w, id ? text : NULL);
}

void json_key_str(struct json_writer *w, const char *key, struct str s)
{
	json_key(w, key);
	json_str(w, s);
}

void json_key_word(struct json_writer *w, const char *key, const char *word)
{
	json_key(w, key);
	json_word(w, word);
}

void json_key_int(struct json_writer *w, const char *key, int64_t n)
{
	json_key(w, key);
	json_int(w, n);
}

void json_key_count(struct json_writer *w, const char *key, int64_t n)
{
	if (n < 0)
		json_key_null(w, key);
	else
		json_key_int(w, key, n);
}

void json_key_double(struct json_writer *w, const char *key, double d)
{
	json_key(w, key);
	json_double(w, d);
}

void json_key_bool(struct json_writer *w, const char *key, bool b)
{
	json_key(w, key);
	json_bool(w, b);
}

void json_key_id(struct json_writer *w, const char *key, vaddr id)
{
	json_key(w, key);
	json_id(w, id);
}

void json_key_null(struct json_writer *w, const char *key)
{
	json_key(w, key);
	json_null(w);
}

void json_truncated(struct json_writer *w, const char *key, bool truncated)
{
	if (truncated)
		json_key_bool(w, key, true);
}
