/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as UTF-8: what is valid and what is not, what becomes of it, and where it may be cut. */
#include "base/str.h"
#include "base/utf8.h"
#include "tests/unit/check.h"

static void check_decode(struct str bytes, int32_t want, size_t length)
{
	size_t at = 0;

	CHECK_EQUAL(utf8_decode(bytes.ptr, bytes.len, &at), want);
	CHECK_EQUAL(at, length);
}

static void check_clean(struct str bytes, struct str want)
{
	char to[100];
	size_t n = utf8_clean(to, bytes.ptr, bytes.len);

	CHECK(str_equal((struct str){to, (uint32_t)n}, want));
}

static void test_decode(void)
{
	check_decode(STR_LIT("\0"), 0, 1);
	check_decode(STR_LIT("\x7f"), 0x7f, 1);
	check_decode(STR_LIT("\xc2\x80"), 0x80, 2);
	check_decode(STR_LIT("\xc3\xa9!"), 0xe9, 2);
	check_decode(STR_LIT("\xe0\xa0\x80"), 0x800, 3);
	check_decode(STR_LIT("\xed\x9f\xbf"), 0xd7ff, 3);
	check_decode(STR_LIT("\xee\x80\x80"), 0xe000, 3);
	check_decode(STR_LIT("\xf0\x90\x80\x80"), 0x10000, 4);
	check_decode(STR_LIT("\xf4\x8f\xbf\xbf"), 0x10ffff, 4);
}

static void test_what_is_none(void)
{
	check_decode(STR_LIT("\x80"), -1, 1);
	check_decode(STR_LIT("\xc0\x80"), -1, 1);
	check_decode(STR_LIT("\xc1\xbf"), -1, 1);
	check_decode(STR_LIT("\xe0\x9f\xbf"), -1, 1);
	check_decode(STR_LIT("\xed\xa0\x80"), -1, 1);
	check_decode(STR_LIT("\xf0\x8f\xbf\xbf"), -1, 1);
	check_decode(STR_LIT("\xf4\x90\x80\x80"), -1, 1);
	check_decode(STR_LIT("\xf5\x80\x80\x80"), -1, 1);
	check_decode(STR_LIT("\xff"), -1, 1);
	/* Cut off, and broken off. */
	check_decode(STR_LIT("\xf0\x9f\x90"), -1, 1);
	check_decode(STR_LIT("\xe2\x82"
			     "A"),
		     -1, 1);
}

static void test_clean(void)
{
	check_clean(STR_LIT(""), STR_LIT(""));
	check_clean(STR_LIT("a\0\xc3\xa9"), STR_LIT("a\0\xc3\xa9"));
	check_clean(STR_LIT("\xffz\xc3"), STR_LIT("\xef\xbf\xbdz\xef\xbf\xbd"));
	check_clean(STR_LIT("\xed\xa0\x80"), STR_LIT("\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"));
}

static void test_head(void)
{
	const char *text = "a\xc3\xa9\xe2\x82\xac";
	static const size_t heads[] = {0, 1, 1, 3, 3, 3, 6, 6};

	for (size_t most = 0; most < sizeof(heads) / sizeof(*heads); most++)
		CHECK_EQUAL(utf8_head(text, 6, most), heads[most]);
}

int main(void)
{
	test_decode();
	test_what_is_none();
	test_clean();
	test_head();
	return check_result("utf8");
}
