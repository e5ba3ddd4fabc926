/* SPDX-License-Identifier: Apache-2.0 */
/* yajl's generator with a memory: the first failure sticks, so that a document is written without a test after each value. */
#ifndef AIOTRACE_REPORT_JSON_WRITER_H
#define AIOTRACE_REPORT_JSON_WRITER_H

#include "base/error.h"
#include "base/str.h"

#include <stdio.h>

struct json_writer;

struct json_writer *json_open(FILE *out); /* NULL: no memory */
/* Ends the document with a newline, frees. ERR_SYSTEM where anything could not be written. */
must_check enum err json_close(struct json_writer *w, struct error *e);

/* Something that belongs into the document could not be had (no memory): json_close will say so. */
void json_fail(struct json_writer *w);
void json_map(struct json_writer *w);
void json_map_end(struct json_writer *w);
void json_list(struct json_writer *w);
void json_list_end(struct json_writer *w);
void json_key(struct json_writer *w, const char *key);

/* Values. A string without pointer is null, a number that is not finite too. */
void json_str(struct json_writer *w, struct str s);
void json_word(struct json_writer *w, const char *word); /* NULL: null */
void json_int(struct json_writer *w, int64_t n);
void json_double(struct json_writer *w, double d);
void json_bool(struct json_writer *w, bool b);
void json_null(struct json_writer *w);
/* "0x…"; 0 is null. */
void json_id(struct json_writer *w, vaddr id);

/* A key and its value. */
void json_key_str(struct json_writer *w, const char *key, struct str s);
void json_key_word(struct json_writer *w, const char *key, const char *word);
void json_key_int(struct json_writer *w, const char *key, int64_t n);
void json_key_count(struct json_writer *w, const char *key, int64_t n); /* below 0: null */
void json_key_double(struct json_writer *w, const char *key, double d);
void json_key_bool(struct json_writer *w, const char *key, bool b);
void json_key_id(struct json_writer *w, const char *key, vaddr id);
void json_key_null(struct json_writer *w, const char *key);
/* Nothing unless truncated: contract.md's `…_truncated` keys. */
void json_truncated(struct json_writer *w, const char *key, bool truncated);

#endif
