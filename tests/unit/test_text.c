/* SPDX-License-Identifier: Apache-2.0 */
/* Words for the eye: durations, numbers, cutting by width, escapes, the order of names. */
#include "base/utf8.h"
#include "report/text.h"
#include "tests/unit/check.h"

#include <locale.h>
#include <math.h>

static const struct text_style utf8 = {.utf8 = true};
static const struct text_style ascii = {.utf8 = false};

static void check_duration(double seconds, const char *want)
{
	struct text t = {0};

	text_duration(&t, &utf8, seconds);
	CHECK_TEXT(t.v, want);
	text_deinit(&t);
}

static void test_durations(void)
{
	check_duration(0, "0 µs");
	check_duration(0.00064, "640 µs");
	check_duration(0.0123, "12.3 ms");
	check_duration(0.64, "640 ms");
	check_duration(29.83, "29.8 s");
	check_duration(192, "3 m 12 s");
	check_duration(18180, "5 h 03 m");
	check_duration(12 * 86400 + 4 * 3600, "12 d 4 h");
	check_duration(NAN, "?");
	check_duration(INFINITY, "11574074 d 1 h");
}

static void test_rest(void)
{
	struct text t = {0};

	text_number(&t, 9998);
	text_add(&t, " ");
	text_number(&t, 1234567);
	text_add(&t, " ");
	text_number(&t, 12);
	CHECK_TEXT(t.v, "9,998 1,234,567 12");
	text_clear(&t);
	CHECK_EQUAL(text_safe(&t, &utf8, STR_LIT("日本語"), 5), 5);
	CHECK_TEXT(t.v, "日本…");
	text_clear(&t);
	CHECK_EQUAL(text_safe(&t, &ascii, STR_LIT("abcdef"), 5), 5);
	CHECK_TEXT(t.v, "abc..");
	text_clear(&t);
	text_safe(&t, &utf8, STR_LIT("a\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81"), 99);
	CHECK_TEXT(t.v, "a\xcc\x81\xcc\x81\xcc\x81\xcc\x81\\u0301");
	CHECK(text_compare(STR_LIT("Task-2"), STR_LIT("Task-10")) < 0);
	CHECK(text_compare(STR_LIT("Task-02"), STR_LIT("Task-2")) == 0);
	CHECK(text_compare(STR_LIT("Task-2"), STR_LIT("Task-2b")) < 0);
	CHECK(text_compare(STR_LIT("b"), STR_LIT("a-99999999999999999999999")) > 0);
	text_deinit(&t);
}

/* Every byte sequence up to three bytes, and every code point, in both styles: what comes out is printable. */
static void test_all_bytes(void)
{
	struct text t = {0};

	for (uint32_t bytes = 0; bytes < 1u << 24; bytes += bytes < 1u << 16 ? 1 : 37) {
		char raw[3] = {(char)(bytes >> 16), (char)(bytes >> 8), (char)bytes};

		text_clear(&t);
		text_safe(&t, &ascii, (struct str){raw, 3}, 100);
		for (size_t i = 0; i < t.len; i++) {
			if (!CHECK(t.v[i] >= 32 && t.v[i] <= 126)) {
				text_deinit(&t);
				return;
			}
		}
		text_clear(&t);
		text_safe(&t, &utf8, (struct str){raw, 3}, 100);
		for (size_t at = 0; at < t.len;) {
			int32_t c = utf8_decode(t.v, t.len, &at);

			if (!CHECK(c >= 32 && (c < 0x7f || c >= 0xa0))) {
				text_deinit(&t);
				return;
			}
		}
	}
	text_deinit(&t);
}

int main(void)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	test_durations();
	test_rest();
	test_all_bytes();
	return check_result("test_text");
}
