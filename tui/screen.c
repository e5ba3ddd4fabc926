/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that knows ncurses. Its state, and what a crash needs to give the terminal back, is one for the process: there is one terminal. */
#include "tui/screen.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#define LINE_CELLS 1024 /* characters of a line that are drawn */

enum pair {
	PAIR_NAME = 1,
	PAIR_WAIT,
	PAIR_GOOD,
	PAIR_WARN,
	PAIR_BAD,
	PAIR_HEAD
};

/* What a signal handler may use: bytes and a structure, made before anything can crash. */
static struct {
	volatile sig_atomic_t open;
	struct termios before;
	char restore[256];
	size_t restore_len;
	SCREEN *screen;
	bool color;
	bool known; /* to atexit */
} terminal;

bool screen_possible(const char **why_ret)
{
	bool possible = false;
	int code;

	*why_ret = "";
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		*why_ret = "standard input and output are no terminal";
		return false;
	}
	if (setupterm(NULL, STDOUT_FILENO, &code) == OK) {
		possible = cursor_address && clear_screen;
		/* newterm makes one of its own. */
		del_curterm(cur_term);
	}
	if (!possible)
		*why_ret = "the terminal can't place its cursor";
	return possible;
}

static void write_all(const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		bytes += n;
		len -= (size_t)n;
	}
}

static void on_crash(int number)
{
	if (terminal.open) {
		terminal.open = 0;
		write_all(terminal.restore, terminal.restore_len);
		tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
	}
	/* SA_RESETHAND: it ends us as it would have. */
	raise(number);
}

static void add_restore(const char *sequence)
{
	size_t n = sequence ? strlen(sequence) : 0;

	if (terminal.restore_len + n >= sizeof(terminal.restore))
		return;
	memcpy(terminal.restore + terminal.restore_len, sequence ? sequence : "", n);
	terminal.restore_len += n;
}

static void prepare_restore(void)
{
	terminal.restore_len = 0;
	if (key_mouse)
		add_restore("\033[?1006l\033[?1000l");
	add_restore(exit_attribute_mode);
	add_restore(cursor_normal);
	add_restore(keypad_local);
	add_restore(exit_ca_mode);
	add_restore("\r\n");
}

static void catch_crashes(void)
{
	static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	struct sigaction action = {.sa_handler = on_crash,
				   .sa_flags = (int)SA_RESETHAND | SA_NODEFER};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

static void set_colors(bool color)
{
	static const short colors[] = {
		[PAIR_NAME] = COLOR_CYAN,    [PAIR_WAIT] = COLOR_YELLOW, [PAIR_GOOD] = COLOR_GREEN,
		[PAIR_WARN] = COLOR_MAGENTA, [PAIR_BAD] = COLOR_RED,
	};

	terminal.color = color && has_colors();
	if (!terminal.color)
		return;
	start_color();
	use_default_colors();
	for (int i = PAIR_NAME; i <= PAIR_BAD; i++)
		init_pair((short)i, colors[i], -1);
	init_pair(PAIR_HEAD, COLOR_BLACK, COLOR_GREEN);
}

/* Terminals that don't heed the request for their application mode send these. */
static void know_plain_arrows(void)
{
	static const struct {
		const char *sequence;
		int key;
	} keys[] = {
		{"\033[A", KEY_UP},    {"\033[B", KEY_DOWN}, {"\033[C", KEY_RIGHT},
		{"\033[D", KEY_LEFT},  {"\033[H", KEY_HOME}, {"\033[F", KEY_END},
		{"\033[1~", KEY_HOME}, {"\033[4~", KEY_END},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (!key_defined(keys[i].sequence))
			define_key(keys[i].sequence, keys[i].key);
	}
}

enum err screen_open(bool color, struct error *e)
{
	if (tcgetattr(STDIN_FILENO, &terminal.before) != 0)
		return error_set(e, ERR_SYSTEM, errno,
				 "can't ask the terminal for its settings: %s", strerror(errno));
	terminal.screen = newterm(NULL, stdout, stdin);
	if (!terminal.screen)
		return error_set(e, ERR_SYSTEM, 0, "can't use this terminal (TERM)");
	prepare_restore();
	terminal.open = 1;
	catch_crashes();
	if (!terminal.known) {
		terminal.known = true;
		atexit(screen_close);
	}
	set_colors(color);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	know_plain_arrows();
	nodelay(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED | BUTTON4_PRESSED |
			  BUTTON5_PRESSED,
		  NULL);
	mouseinterval(200);
	return ERR_OK;
}

void screen_close(void)
{
	if (!terminal.open)
		return;
	terminal.open = 0;
	endwin();
	delscreen(terminal.screen);
	terminal.screen = NULL;
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
}

void screen_size(unsigned *width_ret, unsigned *height_ret)
{
	*width_ret = COLS > 0 ? (unsigned)COLS : 80;
	*height_ret = LINES > 0 ? (unsigned)LINES : 24;
}

void screen_resized(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
}

static attr_t attributes_of(enum text_color color, short *pair_ret)
{
	static const struct {
		attr_t attributes;
		short pair;
	} looks[] = {
		[COLOR_PLAIN] = {A_NORMAL, 0},
		[COLOR_BOLD] = {A_BOLD, 0},
		[COLOR_DIM] = {A_DIM, 0},
		[COLOR_NAME] = {A_BOLD, PAIR_NAME},
		[COLOR_WAIT] = {A_NORMAL, PAIR_WAIT},
		[COLOR_GOOD] = {A_NORMAL, PAIR_GOOD},
		[COLOR_WARN] = {A_NORMAL, PAIR_WARN},
		[COLOR_BAD] = {A_BOLD, PAIR_BAD},
	};

	*pair_ret = terminal.color ? looks[color].pair : 0;
	return looks[color].attributes;
}

/* The look of the whole line; *own_colors: the words' own colours count too. */
static attr_t attributes_of_line(enum line_role role, short *pair_ret, bool *own_colors)
{
	*own_colors = role == LINE_PLAIN;
	*pair_ret = terminal.color && (role == LINE_HEADINGS || role == LINE_FOOT) ? PAIR_HEAD
		    : terminal.color && role == LINE_ALARM			   ? PAIR_BAD
										   : 0;
	switch (role) {
	case LINE_TITLE:
		return A_BOLD;
	case LINE_SELECTED:
	case LINE_ALARM:
		return A_REVERSE;
	case LINE_HEADINGS:
	case LINE_FOOT:
		return *pair_ret ? A_NORMAL : A_REVERSE;
	case LINE_GONE:
		return A_DIM;
	default:
		return A_NORMAL;
	}
}

static void draw_blank_rest(int y, int x)
{
	for (; x < COLS; x++)
		mvaddch(y, x, ' ');
}

/* Characters with the marks that combine with them, one cell after the other, cut at the right edge. */
static void draw_line(int y, const struct canvas *c, uint32_t number)
{
	enum line_role role = c->v[number].role;
	struct str line = canvas_words(c, number);
	int x = -(int)(role == LINE_PLAIN || role == LINE_GONE ? c->shift : 0);
	attr_t attributes;
	bool own_colors;
	short pair;
	struct glyph g;
	size_t at = 0;

	attributes = attributes_of_line(role, &pair, &own_colors);
	attr_set(attributes, pair, NULL);
	while (glyph_next(line, &at, &g)) {
		wchar_t w[2] = {(wchar_t)(g.code < 0 ? '?' : g.code), 0};

		if (g.is_color) {
			attributes = attributes_of(g.color, &pair);
			if (own_colors)
				attr_set(attributes, pair, NULL);
			continue;
		}
		if (x + (int)g.width > COLS)
			break;
		if (x >= 0 && g.width)
			mvaddnwstr(y, x, w, 1);
		else if (x > 0 && !g.width)
			addnwstr(w, 1); /* joins the cell before */
		x += (int)g.width;
	}
	if (own_colors)
		attr_set(A_NORMAL, 0, NULL);
	draw_blank_rest(y, x > 0 ? x : 0);
}

void screen_draw(const struct canvas *c)
{
	for (uint32_t i = 0; i < c->count && (int)i < LINES; i++)
		draw_line((int)i, c, i);
	for (int y = (int)c->count; y < LINES; y++) {
		attr_set(A_NORMAL, 0, NULL);
		draw_blank_rest(y, 0);
	}
	refresh();
}

static bool mouse_event(struct press_event *ret)
{
	MEVENT m;

	if (getmouse(&m) != OK || m.x < 0 || m.y < 0)
		return false;
	ret->x = (unsigned)m.x;
	ret->y = (unsigned)m.y;
	if (m.bstate & BUTTON4_PRESSED)
		ret->press = PRESS_WHEEL_UP;
	else if (m.bstate & BUTTON5_PRESSED)
		ret->press = PRESS_WHEEL_DOWN;
	else if (m.bstate & BUTTON1_DOUBLE_CLICKED)
		ret->press = PRESS_MOUSE_TWICE;
	else if (m.bstate & (BUTTON1_CLICKED | BUTTON1_PRESSED))
		ret->press = PRESS_MOUSE;
	else
		return false;
	return true;
}

static int32_t press_of(wint_t key)
{
	static const struct {
		wint_t key;
		int32_t press;
	} keys[] = {
		{KEY_UP, PRESS_UP},
		{KEY_DOWN, PRESS_DOWN},
		{KEY_LEFT, PRESS_LEFT},
		{KEY_RIGHT, PRESS_RIGHT},
		{KEY_PPAGE, PRESS_PAGE_UP},
		{KEY_NPAGE, PRESS_PAGE_DOWN},
		{KEY_HOME, PRESS_HOME},
		{KEY_END, PRESS_END},
		{KEY_BACKSPACE, PRESS_BACKSPACE},
		{KEY_DC, PRESS_DELETE},
		{KEY_ENTER, PRESS_ENTER},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (keys[i].key == key)
			return keys[i].press;
	}
	if (key >= KEY_F(1) && key <= KEY_F(10))
		return PRESS_F1 + (int32_t)(key - KEY_F(1));
	return PRESS_NONE;
}

bool screen_key(struct press_event *ret)
{
	for (;;) {
		wint_t key;
		int kind = get_wch(&key);

		if (kind == ERR)
			return false;
		*ret = (struct press_event){0};
		if (kind == KEY_CODE_YES && key == KEY_MOUSE) {
			if (mouse_event(ret))
				return true;
			continue;
		}
		ret->press = kind == KEY_CODE_YES ? press_of(key) : (int32_t)key;
		if (ret->press == 8 || ret->press == 127)
			ret->press = PRESS_BACKSPACE;
		if (ret->press != PRESS_NONE)
			return true;
	}
}
