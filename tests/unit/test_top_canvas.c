/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a picture: characters and their columns, bodies that are broken at the width, heights; the table's columns whatever the names are. */
#include "tests/unit/desk.h"

#include <locale.h>

/* e with an acute accent as two characters. */
#define E_ACUTE "e\xcc\x81"

static const struct text_style utf8 = {.utf8 = true};

static unsigned columns_of(struct str line)
{
	struct glyph g;
	unsigned used = 0;
	size_t at = 0;

	while (glyph_next(line, &at, &g))
		used += g.width;
	return used;
}

static void test_glyphs(void)
{
	static const struct {
		int32_t code;
		unsigned width;
		enum text_color color; /* where the code is 0 */
	} want[] = {
		{0, 0, COLOR_NAME}, {'a', 1, 0},     {0x65e5, 2, 0}, {'e', 1, 0},
		{0x301, 0, 0},	    {0x1f600, 2, 0}, {-1, 1, 0},     {0, 0, COLOR_PLAIN},
		{0x1b, 0, 0},	    {'[', 1, 0},     {'9', 1, 0},    {0x7f, 0, 0},
	};
	struct str line = STR_LIT("\033[1;36ma日" E_ACUTE "😀\xff\033[0m\033[9\x7f");
	struct glyph g;
	size_t at = 0;

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		CHECK(glyph_next(line, &at, &g));
		CHECK_EQUAL(g.is_color, want[i].code == 0);
		CHECK_EQUAL(g.code, want[i].code);
		CHECK_EQUAL(g.width, want[i].width);
		CHECK_EQUAL(g.color, want[i].color);
	}
	CHECK(!glyph_next(line, &at, &g));
	CHECK_EQUAL(at, line.len);
}

static void test_colors(void)
{
	const struct text_style colors = {.utf8 = true, .color = true};
	struct text t = {0};
	struct glyph g;

	for (enum text_color c = COLOR_PLAIN; c <= COLOR_BAD; c++) {
		size_t at = 0;

		text_clear(&t);
		text_color(&t, &colors, c);
		CHECK(glyph_next(text_str(&t), &at, &g));
		CHECK(g.is_color && g.color == c && at == t.len);
	}
	text_deinit(&t);
}

static void test_lines(void)
{
	struct canvas c = {0};

	canvas_begin(&c, 20, 3, &utf8);
	CHECK_EQUAL(canvas_left(&c), 3);
	text_add(canvas_line(&c, LINE_TITLE, NO_ROW), "title");
	CHECK_EQUAL(canvas_left(&c), 2);
	canvas_line(&c, LINE_PLAIN, NO_ROW);
	text_printf(canvas_line(&c, LINE_SELECTED, 7), "row %d", 7);
	canvas_end(&c);
	CHECK_EQUAL(canvas_left(&c), 0);
	CHECK(str_is(canvas_words(&c, 0), "title"));
	CHECK_EQUAL(canvas_words(&c, 1).len, 0);
	CHECK(str_is(canvas_words(&c, 2), "row 7"));
	CHECK(c.v[2].role == LINE_SELECTED && c.v[2].row == 7 && c.v[0].row == NO_ROW);
	canvas_line(&c, LINE_PLAIN, NO_ROW);
	CHECK_EQUAL(canvas_left(&c), 0);
	/* Empty again; without a height there is room for all. */
	c.shift = 8;
	c.heading_count = 1;
	canvas_begin(&c, 20, 0, &utf8);
	CHECK_EQUAL(c.count, 0);
	CHECK_EQUAL(c.shift, 0);
	CHECK_EQUAL(c.heading_count, 0);
	CHECK_EQUAL(canvas_left(&c), UINT32_MAX);
	for (uint32_t i = 0; i < 1000; i++)
		text_printf(canvas_line(&c, LINE_PLAIN, i), "%u", i);
	canvas_end(&c);
	CHECK_EQUAL(c.count, 1000);
	CHECK(str_is(canvas_words(&c, 999), "999") && str_is(canvas_words(&c, 64), "64"));
	CHECK(!c.failed);
	canvas_deinit(&c);
}

/* The lines as one text, "|" between them; malloc'ed. */
static char *body_of(unsigned width, struct str body, uint32_t first, uint32_t most, bool wrap,
		     uint32_t want_count)
{
	struct canvas c = {0};
	struct text t = {0};

	canvas_begin(&c, width, 0, &utf8);
	CHECK_EQUAL(canvas_body(&c, body, first, most, LINE_GONE, wrap), want_count);
	canvas_end(&c);
	text_spaces(&t, 1);
	for (uint32_t i = 0; i < c.count; i++) {
		CHECK(c.v[i].role == LINE_GONE && c.v[i].row == NO_ROW);
		text_add(&t, i ? "|" : "");
		text_add_bytes(&t, canvas_words(&c, i).ptr, canvas_words(&c, i).len);
	}
	canvas_deinit(&c);
	memmove(t.v, t.v + 1, t.len);
	return t.v;
}

static void check_body(unsigned width, const char *body, uint32_t first, uint32_t most, bool wrap,
		       uint32_t count, const char *want, int line)
{
	char *got = body_of(width, str_from(body), first, most, wrap, count);

	check_text(got, want, body, __FILE__, line);
	free(got);
}

#define CHECK_BODY(width, body, first, most, wrap, count, want) \
	check_body((width), (body), (first), (most), (wrap), (count), (want), __LINE__)

static void test_body(void)
{
	CHECK_BODY(10, "", 0, 9, true, 0, "");
	CHECK_BODY(10, "\n", 0, 9, true, 1, "");
	CHECK_BODY(10, "one\ntwo\n\nfour", 0, 9, false, 4, "one|two||four");
	CHECK_BODY(10, "one\ntwo\n\nfour\n", 1, 1, false, 4, "two");
	CHECK_BODY(10, "one\ntwo\n\nfour\n", 3, UINT32_MAX, false, 4, "four");
	CHECK_BODY(10, "one\ntwo\n", 5, 3, false, 2, "");
	CHECK_BODY(10, "one\ntwo\n", 0, 0, false, 2, "");
	/* Not broken, or there is no width to break at. */
	CHECK_BODY(4, "far too long\n", 0, 9, false, 1, "far too long");
	CHECK_BODY(0, "far too long\n", 0, 9, true, 1, "far too long");
	/* After a blank where there is one late enough; pieces count as lines. */
	CHECK_BODY(20, "twelve words or so on the line of that width", 0, 9, true, 4,
		   "twelve words or so |        on the line |        of that |        width");
	CHECK_BODY(20, "a abcdefghijklmnopqrstuvwxyz", 0, 9, true, 2,
		   "a abcdefghijklmnopqr|        stuvwxyz");
	CHECK_BODY(20, "twelve words or so on the line of that width\nnext\n", 3, 2, true, 5,
		   "        width|next");
	/* Exactly as wide as the screen. */
	CHECK_BODY(5, "abcde\nabcdef\n", 0, 9, true, 3, "abcde|abcde|f");
	/* Too narrow for an indent. */
	CHECK_BODY(16, "abcdefghijklmnopqrstuvwxyz", 0, 9, true, 2, "abcdefghijklmnop|qrstuvwxyz");
	/* A wide character is not cut into halves, and marks stay with theirs. */
	CHECK_BODY(5, "日本語日本", 0, 9, true, 3, "日本|語日|本");
	CHECK_BODY(2, "a" E_ACUTE "b" E_ACUTE, 0, 9, true, 2, "a" E_ACUTE "|b" E_ACUTE);
	/* There is no room for it at all: one a line, so that there is an end. */
	CHECK_BODY(1, "日本", 0, 9, true, 2, "日|本");
}

/* A colour goes on on the next piece, and ends with each line. */
static void test_body_colors(void)
{
	const struct text_style colors = {.utf8 = true, .color = true};
	struct str body = STR_LIT("ab\033[33mcdefgh\033[0mij\n");
	struct canvas c = {0};

	canvas_begin(&c, 4, 0, &colors);
	CHECK_EQUAL(canvas_body(&c, body, 0, 9, LINE_PLAIN, true), 3);
	canvas_end(&c);
	CHECK(str_is(canvas_words(&c, 0), "ab\033[33mcd\033[0m"));
	CHECK(str_is(canvas_words(&c, 1), "\033[33mefgh\033[0m\033[0m"));
	CHECK(str_is(canvas_words(&c, 2), "ij\033[0m"));
	canvas_deinit(&c);
}

/* Nothing but blanks and colours is added, nothing is lost, and no line is wider than the screen. */
static void check_kept(unsigned width, struct str body)
{
	const struct text_style colors = {.utf8 = true, .color = true};
	struct canvas c = {0};
	struct text t = {0}, want = {0};
	struct glyph g;
	uint32_t count;

	canvas_begin(&c, width, 0, &colors);
	count = canvas_body(&c, body, 0, UINT32_MAX, LINE_PLAIN, true);
	canvas_end(&c);
	CHECK_EQUAL(c.count, count);
	CHECK(width == 0 || count >= columns_of(body) / (width + 1));
	for (uint32_t i = 0; i < c.count; i++) {
		struct str words = canvas_words(&c, i);

		CHECK(width < 2 || columns_of(words) <= width);
		for (size_t at = 0, from = 0; glyph_next(words, &at, &g); from = at) {
			if (!g.is_color && g.code != ' ')
				text_add_bytes(&t, words.ptr + from, at - from);
		}
	}
	for (size_t at = 0, from = 0; glyph_next(body, &at, &g); from = at) {
		if (!g.is_color && g.code != ' ')
			text_add_bytes(&want, body.ptr + from, at - from);
	}
	CHECK(str_equal(text_str(&t), text_str(&want)));
	text_deinit(&t);
	text_deinit(&want);
	canvas_deinit(&c);
}

static void test_widths(void)
{
	static const struct str bodies[] = {
		STR_LIT("some words, a-long-word-without-any-blank-in-it-at-all and more of them"),
		STR_LIT("日本語 の 名前 日本語日本語日本語日本語 a日b本c語"),
		STR_LIT(E_ACUTE E_ACUTE E_ACUTE " " E_ACUTE "x" E_ACUTE E_ACUTE E_ACUTE E_ACUTE),
		STR_LIT("\033[33m日\033[0m本 \033[1;31mred words that are long enough\033[0m \033[2m"
			"dim\033[0m"),
		STR_LIT("          blanks          "),
		STR_LIT("\xff\xfe broken \xe6\x97 bytes"),
	};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		for (unsigned width = 0; width <= 40; width++)
			check_kept(width, bodies[i]);
	}
	/* Without wide characters one column is enough. */
	for (unsigned width = 1; width <= 20; width++) {
		struct canvas c = {0};
		uint32_t count;

		canvas_begin(&c, width, 0, &utf8);
		count = canvas_body(&c, bodies[0], 0, UINT32_MAX, LINE_PLAIN, true);
		for (uint32_t k = 0; k < count; k++)
			CHECK(columns_of(canvas_words(&c, k)) <= width);
		canvas_deinit(&c);
	}
}

static const char *const names[] = {
	"plain",
	"日本語の名前はとても長いですから切ります",
	"日a日a日a日a日a日a日a日a日a",
	E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE
		E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE,
	"\033[2J\n\x7f escapes \033]0;x\007",
	"\xe2\x80\xae overridden",
	"",
};

static struct model *hostile_picture(void)
{
	struct model *m = picture_new(100);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uint32_t row = picture_task(m, names[i]);

		picture_at(m, row, names[i], names[i], 1000000);
		picture_waits(m, row, AWAITS_OTHER, names[i]);
	}
	picture_tasks(m, "日本語", 12000);
	return m;
}

/* All rows end in the same column, within the screen, whatever they hold; tree and list. */
static void test_table_columns(void)
{
	struct desk d;

	desk_init(&d, 80, 24);
	desk_take(&d, hostile_picture());
	for (d.width = 81; d.width <= 240; d.width++) {
		for (int tree = 0; tree < 2; tree++) {
			d.ui.rows.tree = tree;
			desk_draw(&d);
			for (uint32_t i = 0; i < d.c.count; i++) {
				unsigned used = desk_columns(&d, i);

				if (d.c.v[i].row == NO_ROW)
					continue;
				CHECK(used <= d.width || (tree && d.width < 100));
				CHECK_EQUAL(used, desk_columns(&d, desk_selected(&d)));
			}
		}
	}
	desk_deinit(&d);
}

/* Any size can be drawn; where there is room for more than the frame of it, it is filled exactly and the foot is the last line. */
static void test_sizes(void)
{
	static const int32_t views[] = {'1', '2', '3', '4', '5', '6', '>', '?'};
	struct desk d;

	desk_init(&d, 80, 24);
	desk_take(&d, hostile_picture());
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		desk_press(&d, views[i]);
		for (d.height = 1; d.height <= 30; d.height++) {
			for (d.width = 1; d.width <= 100; d.width += d.width < 20 ? 1 : 16) {
				desk_draw(&d);
				CHECK(d.height < 14 || d.c.count == d.height);
				CHECK(d.c.count <= d.height || d.c.count <= 14);
				CHECK_EQUAL(d.c.v[d.c.count - 1].role, LINE_FOOT);
				CHECK_EQUAL(d.ui.foot_line, d.c.count - 1);
			}
		}
	}
	/* Without a height, as --batch prints it: all rows, no foot, nothing selected. */
	desk_press(&d, '1');
	d.ui.rows.fold = false;
	d.height = 0;
	desk_draw(&d);
	CHECK(d.c.count > 12000);
	CHECK(d.c.v[d.c.count - 1].row == d.ui.table.count - 1);
	CHECK_EQUAL(desk_selected(&d), NONE);
	desk_deinit(&d);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_glyphs();
	test_colors();
	test_lines();
	test_body();
	test_body_colors();
	test_widths();
	test_table_columns();
	test_sizes();
	return check_result("top_canvas");
}
