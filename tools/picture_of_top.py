# SPDX-License-Identifier: Apache-2.0
"""Writes man/top.svg, the README's picture of `aiotrace top`, from the real thing: `make picture`.

fixtures/shop.py gets clients and a tax office that answers quickly, twice slowly, and at last not at all; the dashboard watches it in a
pseudo-terminal, and the cells of its screen become the picture. With a second argument the screen goes there as text.
"""

import itertools
import pathlib
import random
import select
import socket
import sys
import time
from xml.sax.saxutils import escape

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
import harness
import terminal
from wcwidth import wcwidth

COLUMNS, ROWS = 104, 24
SUBSCRIBERS = 240
CLIENTS = 9
QUIET, HUNG = 40.0, 6.2  # seconds of the loop at work, and of the incident
SLOW = (14.0, 27.0)  # when the office takes its time

CELL_W, CELL_H, SIZE = 8.43, 18, 14  # DejaVu Sans Mono and Consolas: 0.602 and 0.55 em; textLength makes it sure
PAD, BAR = 14, 30
FONT = "ui-monospace,'DejaVu Sans Mono','SF Mono',Menlo,Consolas,monospace"
BACKGROUND, FOREGROUND, FRAME = "#16181d", "#c9ced6", "#2a2e37"
COLORS = {
    "default": FOREGROUND, "black": "#16181d", "red": "#ff6b68", "green": "#7fc97a", "brown": "#e6c15c", "blue": "#6ca4f8",
    "magenta": "#d78fe0", "cyan": "#5cc8d6", "white": "#e8ebf0",
}  # fmt: skip


class Office:
    """Answers the shop's questions after a while; `hangs` from then on not any more."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.begun = time.monotonic()
        self.slow = list(SLOW)
        self.answer_at = None
        self.hangs = self.asked = False

    def accept(self):
        self.connection = self.listener.accept()[0]
        self.begun = time.monotonic()

    def turn(self):
        now = time.monotonic()
        if self.answer_at is None and select.select([self.connection], [], [], 0)[0]:
            self.connection.recv(100)
            slow = self.slow and now - self.begun > self.slow[0]
            self.asked = self.hangs
            self.answer_at = now + (random.uniform(0.16, 0.4) if slow else random.uniform(0.002, 0.03))
            self.slow = self.slow[1:] if slow else self.slow
        if self.answer_at and not self.asked and now >= self.answer_at:
            self.connection.sendall(b"20\n")
            self.answer_at = None


class Clients:
    """Each asks for something, reads the answer, thinks, asks again; the load comes in waves."""

    def __init__(self, port):
        self.sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(CLIENTS)]
        self.due = {client: time.monotonic() + index * 0.1 for index, client in enumerate(self.sockets)}
        self.numbers = itertools.count(4700)

    def turn(self):
        for client in select.select(self.sockets, [], [], 0)[0]:
            client.recv(100)
            self.due[client] = time.monotonic() + random.uniform(0.05, 0.5)
        for client in [client for client, due in self.due.items() if due <= time.monotonic()]:
            number = next(self.numbers)
            client.sendall(b"%s %d\n" % (b"products" if number % 7 else b"invoice", number))
            del self.due[client]


def watched(top, seconds, *others):
    """Lets time pass, for the screen and those."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for other in others:
            other.turn()
        top.pump(0.005)


def incident(top, office, clients):
    top.shows("WAITS ON")
    watched(top, QUIET, office, clients)
    office.hangs = True
    while not office.asked:
        watched(top, 0.05, office, clients)
    watched(top, HUNG, office, clients)
    top.shows("blocked-loop")
    return top.screen


def goes_on(run, x, width, character, look):
    """Whether the cell belongs to the run before it: what a font may draw wider or narrower than a cell stands apart from letters."""
    start, cells, text, *run_look = run
    return tuple(run_look) == look and start + cells == x and width == 1 and character.isascii() == text.isascii()


def runs(line, columns):
    """(first cell, cells, characters, colour, background, bold, reverse) of what looks alike; blanks belong to what stands before them."""
    found, x = [], 0
    while x < columns:
        cell = line[x]
        width = max(wcwidth(cell.data[:1] or " "), 1)
        look = (cell.fg, cell.bg, cell.bold, cell.reverse)
        if found and goes_on(found[-1], x, width, cell.data, look):
            start, cells, text, *_ = found.pop()
            found.append((start, cells + 1, text + cell.data, *look))
        else:
            found.append((x, width, cell.data, *look))
        x += width
    return found


def line_svg(y, line, columns):
    rects, words = [], []
    top, base = BAR + y * CELL_H, BAR + y * CELL_H + 13.5
    for start, cells, text, color, behind, bold, reverse in runs(line, columns):
        left, paint = PAD + start * CELL_W, COLORS.get(color, f"#{color}")
        ground = BACKGROUND if behind == "default" else COLORS.get(behind, f"#{behind}")
        if reverse:
            paint, ground = ground, paint
        if ground != BACKGROUND:
            rects.append(f'<rect x="{left:.1f}" y="{top}" width="{cells * CELL_W + 0.3:.1f}" height="{CELL_H}" fill="{ground}"/>')
        kept = text.rstrip(" ")
        lead = len(kept) - len(kept.lstrip(" "))
        kept, left = kept.lstrip(" "), left + lead * CELL_W
        if kept:
            cells = cells - lead - (len(text) - len(text.rstrip(" ")))
            weight = ' font-weight="bold"' if bold else ""
            fill = f' fill="{paint}"' if paint != FOREGROUND else ""
            words.append(f'<tspan x="{left:.1f}" textLength="{cells * CELL_W:.1f}"{fill}{weight}>{escape(kept)}</tspan>')
    text = f'<text y="{base}" xml:space="preserve">{"".join(words)}</text>' if words else ""
    return "".join(rects) + text


def svg(screen, title):
    width, height = round(2 * PAD + screen.columns * CELL_W), BAR + screen.lines * CELL_H + PAD
    lights = "".join(f'<circle cx="{PAD + 6 + 16 * i}" cy="15" r="4.5" fill="{FRAME}"/>' for i in range(3))
    lines = (line_svg(y, screen.buffer[y], screen.columns) for y in range(screen.lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
        f"<title>{escape(title)}</title>\n"
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" fill="{BACKGROUND}" stroke="{FRAME}"/>{lights}\n'
        f'<g font-family="{FONT}" font-size="{SIZE}" fill="{FOREGROUND}">\n' + "\n".join(filter(None, lines)) + "\n</g>\n</svg>\n"
    )


def main(target_file, text_file=None):
    python = [python for python in harness.interpreters() if python.supported and not python.debug and python.minor == (3, 14)][-1]
    office = Office()
    shop = harness.Target([*python.command, "shop.py", office.port, SUBSCRIBERS], cwd=harness.FIXTURES)
    top = None
    try:
        office.accept()
        top = terminal.Terminal(shop.pid, columns=COLUMNS, rows=ROWS)
        screen = incident(top, office, Clients(shop.truth["port"]))
        pathlib.Path(target_file).write_text(svg(screen, "aiotrace top, watching a web shop whose loop is blocked"))
        if text_file:
            pathlib.Path(text_file).write_text(top.text + "\n")
        top.quit()
    finally:
        if top:
            top.end()
        shop.kill()


main(*sys.argv[1:])
