"""The window: the picture on the left, what can be done on the right. All it knows of play is the session it shows."""

from __future__ import annotations

from collections.abc import Callable

import pygame

from gamegen.core.errors import BadInput
from gamegen.play.session import Session

PANEL, MARGIN, LINE = 430, 16, 20
TEXT_SIZE, TITLE_SIZE = 20, 30
MOST_OPTIONS = 12
INSTRUCTION_LINES, THOUGHT_LINES, MESSAGE_LINES = 7, 7, 4

PAPER, INK, QUIET = (250, 250, 247), (32, 34, 40), (118, 122, 132)
ACCENT, SELECTED, RULE = (196, 84, 30), (255, 232, 204), (224, 224, 218)

HELP = (
    ("Right, Space: next step", "Left, Backspace: back"),
    ("Click cells: move by hand", "U: undo    R: reset"),
    ("Tab, Up, Down: choose a move", "Enter: play it"),
    ("S: say the step's reason", "C: check the position"),
    ("N, P: next, previous sample", "1 to 5: level"),
    ("K: next skin", "Q: quit"),
)

Transition = Callable[[Session], Session]

KEYS: dict[int, Transition] = {
    pygame.K_RIGHT: Session.next_step,
    pygame.K_SPACE: Session.next_step,
    pygame.K_LEFT: Session.previous_step,
    pygame.K_BACKSPACE: Session.previous_step,
    pygame.K_DOWN: lambda session: session.choose(1),
    pygame.K_UP: lambda session: session.choose(-1),
    pygame.K_RETURN: Session.play_chosen,
    pygame.K_KP_ENTER: Session.play_chosen,
    pygame.K_s: Session.toggle_hint,
    pygame.K_u: Session.undo,
    pygame.K_r: Session.reset,
    pygame.K_c: Session.check,
    pygame.K_n: lambda session: session.other_index(1),
    pygame.K_p: lambda session: session.other_index(-1),
    pygame.K_k: Session.next_skin,
    pygame.K_1: lambda session: session.other_level(1),
    pygame.K_2: lambda session: session.other_level(2),
    pygame.K_3: lambda session: session.other_level(3),
    pygame.K_4: lambda session: session.other_level(4),
    pygame.K_5: lambda session: session.other_level(5),
}


class Window:
    """Shows a session; each event may put another in its place."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.open = True
        self._options: list[tuple[pygame.Rect, int]] = []  # where the listed options were drawn
        side = session.sample.style.pixels
        try:
            pygame.display.init()
            self.surface = pygame.display.set_mode((side + PANEL, max(side, 640)))
        except pygame.error as error:
            raise BadInput(f"cannot open a window: {error}") from error
        pygame.font.init()
        pygame.key.set_repeat(350, 60)
        self._text = pygame.font.Font(None, TEXT_SIZE)
        self._title = pygame.font.Font(None, TITLE_SIZE)
        self.draw()

    def run(self) -> None:
        """Until somebody quits."""
        try:
            while self.open:
                for event in (pygame.event.wait(), *pygame.event.get()):
                    self.handle(event)
                self.draw()
        finally:
            pygame.quit()

    def handle(self, event: pygame.event.Event) -> None:
        if event.type == pygame.QUIT or (event.type == pygame.KEYDOWN and event.key in (pygame.K_q, pygame.K_ESCAPE)):
            self.open = False
        elif event.type == pygame.KEYDOWN and event.key == pygame.K_TAB:
            self.session = self.session.choose(-1 if event.mod & pygame.KMOD_SHIFT else 1)
        elif event.type == pygame.KEYDOWN and event.key in KEYS:
            self.session = KEYS[event.key](self.session)
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self._click(*event.pos)

    def draw(self) -> None:
        session = self.session
        rgb = session.picture.rgb()
        height, width = rgb.shape[:2]
        self.surface.fill(PAPER)
        self.surface.blit(pygame.image.frombuffer(rgb.tobytes(), (width, height), "RGB"), (0, 0))
        for cell in session.clicks:
            pygame.draw.rect(self.surface, ACCENT, session.places.box(cell), 3)
        pygame.display.set_caption(f"{session.sample.plugin.game.title}: {session.sample.id}")
        self._draw_panel()
        pygame.display.flip()

    def _click(self, x: int, y: int) -> None:
        cell = self.session.places.at(x, y)
        if cell is not None:
            self.session = self.session.click(cell)
        for box, number in self._options:
            if box.collidepoint(x, y):
                self.session = self.session.play(self.session.options[number])

    # The panel, from top to bottom ------------------------------------------------------------------------------------

    def _draw_panel(self) -> None:
        session, sample = self.session, self.session.sample
        bottom = self.surface.get_height() - MARGIN - LINE * len(HELP)
        y = self._write_title(f"{sample.plugin.game.title}: {sample.problem.kind}")
        about = f"level {sample.key.level}, seed {sample.key.seed}, sample {sample.key.index}, skin {sample.style.skin}"
        y = self._write([about], y, QUIET) + LINE // 2
        y = self._write(self._wrapped(sample.instruction, INSTRUCTION_LINES), y, INK) + LINE // 2
        y = self._rule(y)
        y = self._write([self._progress()], y, ACCENT)
        if session.hint and session.at:
            y = self._write(self._wrapped(session.thought, THOUGHT_LINES), y, INK)
        if session.message:
            y = self._write(self._wrapped(session.message, MESSAGE_LINES), y + LINE // 2, ACCENT)
        self._list_options(y + LINE // 2, bottom - LINE // 2)
        self._rule(bottom - LINE // 2)
        for shift, column in zip((0, PANEL // 2), zip(*HELP, strict=True), strict=True):
            self._write(list(column), bottom, QUIET, shift)

    def _progress(self) -> str:
        session = self.session
        text = f"Step {session.at} of {len(session.line) - 1}"
        if session.tried:
            text += f", then {len(session.tried)} by hand (last: {session.tried[-1].action})"
        return text if session.hint or not session.at else text + "   (S says why)"

    def _list_options(self, y: int, bottom: int) -> None:
        session = self.session
        self._options = []
        room = min(MOST_OPTIONS, (bottom - y) // LINE - 1)
        if not session.options or room < 1:
            return
        y = self._write([f"{len(session.options)} legal moves; Enter or a click plays one:"], y, QUIET)
        first = max(0, min(session.chosen - room // 2, len(session.options) - room))
        for number in range(first, min(first + room, len(session.options))):
            box = pygame.Rect(self._left - 4, y - 2, PANEL - 2 * MARGIN + 8, LINE)
            if number == session.chosen:
                pygame.draw.rect(self.surface, SELECTED, box)
            self._options.append((box, number))
            y = self._write([session.told(session.options[number])], y, INK)

    @property
    def _left(self) -> int:
        return self.surface.get_width() - PANEL + MARGIN

    def _write_title(self, text: str) -> int:
        self.surface.blit(self._title.render(text, True, INK), (self._left, MARGIN))
        return MARGIN + TITLE_SIZE

    def _write(self, lines: list[str], y: int, colour: tuple[int, int, int], shift: int = 0) -> int:
        """The lines from y down; returns where the next would go."""
        for line in lines:
            self.surface.blit(self._text.render(line, True, colour), (self._left + shift, y))
            y += LINE
        return y

    def _rule(self, y: int) -> int:
        pygame.draw.line(self.surface, RULE, (self._left, y), (self._left + PANEL - 2 * MARGIN, y))
        return y + LINE // 2

    def _wrapped(self, text: str, most: int) -> list[str]:
        """Lines that fit the panel, at most so many; the last one says if there was more."""
        lines = [""]
        for word in text.split():
            longer = f"{lines[-1]} {word}".strip()
            if self._text.size(longer)[0] <= PANEL - 2 * MARGIN:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines if len(lines) <= most else [*lines[: most - 1], lines[most - 1] + " ..."]
