"""Progress in a real terminal (a pseudo-terminal), a pipe and a notebook, with and without rich."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from factorstream import progress as module
from factorstream.progress import progress

SCRIPT = """
import sys, time
{before}
import factorstream.progress as module
module.DELAY, module.LINES_EVERY, module.DRAWN_EVERY = {delay}, 0.1, 0.02
from factorstream.progress import progress
{body}
"""
COUNTING = """
with progress("counting [red]", total=50, show={show}) as step:
    for done in range(50):
        time.sleep(0.01)
        step(done + 1, "sums <3>" if done >= 30 else "")
print("result")
"""
WITHOUT_RICH = 'sys.modules["rich"] = None'


def script(body=COUNTING, before="", delay=0.05, show=True):
    return SCRIPT.format(before=before, delay=delay, body=textwrap.dedent(body).format(show=show))


def piped(code, **environment):
    """Standard output and standard error of a process that has no terminal."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )
    return done.stdout, done.stderr


def on_terminal(code, term="xterm"):
    """What a process writes to a pseudo-terminal of 120 columns, and its exit status."""
    pty = pytest.importorskip("pty")  # not on Windows
    ours, its = pty.openpty()
    environment = {**os.environ, "TERM": term, "COLUMNS": "120"}
    process = subprocess.Popen([sys.executable, "-c", code], stdin=its, stdout=its, stderr=its, env=environment)
    os.close(its)
    said = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # Linux says so that nobody holds the other end any longer
            break
        if not more:
            break
        said += more
    os.close(ours)
    return said.decode(), process.wait()


def test_a_bar_in_a_terminal():
    pytest.importorskip("rich")
    said, status = on_terminal(script())
    assert status == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said)
    assert "counting [red]" in plain  # not taken for a colour
    assert "sums <3>" in plain
    assert re.search(r"[0-9]+%, [0-9]+ of 50, [0-9]+ per second, [0-9] s left", plain)
    assert "\x1b[2K" in said  # the line is erased and written again
    assert plain.rstrip().endswith("result")  # and gone at the end
    assert said.rindex("\x1b[?25h") > said.rindex("\x1b[?25l")  # the cursor is back


def test_the_cursor_comes_back_after_an_error():
    pytest.importorskip("rich")
    said, status = on_terminal(script(COUNTING.replace("step(done + 1,", "step(1 / max(25 - done, 0),")))
    assert status == 1
    assert "ZeroDivisionError" in said
    assert said.rindex("\x1b[?25h") > said.rindex("\x1b[?25l")


@pytest.mark.parametrize(("before", "term"), [(WITHOUT_RICH, "xterm"), ("", "dumb")], ids=["no rich", "dumb"])
def test_lines_in_a_terminal_that_shows_no_bar(before, term):
    said, _ = on_terminal(script(before=before), term)
    assert "\x1b" not in said
    assert re.search(r"counting \[red\]: [0-9]+%, [0-9]+ of 50", said)


@pytest.mark.parametrize("before", ["", WITHOUT_RICH], ids=["rich", "no rich"])
def test_lines_in_a_pipe(before):
    out, said = piped(script(before=before), FORCE_COLOR="1")
    assert out == "result\n"  # words go to standard error
    first, *_, last = said.splitlines()
    assert re.fullmatch(r"counting \[red\]: [0-9]+%, [0-9]+ of 50, [0-9]+ per second, [0-9] s left", first)
    assert re.fullmatch(r"counting \[red\]: 50 done after [01] s", last)
    assert any(line.startswith("sums <3>: ") for line in said.splitlines())
    assert 3 <= len(said.splitlines()) <= 12  # about one in each of its tenth parts of a second


def test_silence_where_it_is_asked_for_and_in_short_work():
    for code in (script(show=False), script(delay=60)):
        assert piped(code) == ("result\n", "")
    assert "\x1b" not in on_terminal(script(delay=60))[0]


def test_work_that_takes_no_step_is_shown_too():
    assert "waiting: 0 s so far" in piped(script("with progress('waiting'): time.sleep(0.3)"))[1]


def test_failed_work_says_that_it_stopped():
    body = """
    try:
        with progress("adding", total=10) as step:
            step(4)
            time.sleep(0.2)
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    """
    assert piped(script(body))[1].splitlines()[-1] == "adding: 4 stopped after 0 s"


NESTED = """
with progress("outer", total=2) as step:
    step(1)
    time.sleep(0.2)
    with progress("inner", total=2) as inner:
        time.sleep(0.3)
with progress("next"):
    time.sleep(0.2)
"""


@pytest.mark.parametrize("where", [on_terminal, piped])
def test_work_inside_other_work_is_not_shown(where):
    said = "".join(map(str, where(script(NESTED))))
    assert "outer" in said
    assert "inner" not in said
    assert "next" in said  # the terminal is free again


def test_work_of_another_thread_is_shown_once_the_first_is_over():
    body = """
    import threading
    def second():
        with progress("second"): time.sleep(0.8)
    with progress("first"):
        time.sleep(0.2)
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.2)
    thread.join()
    """
    said = piped(script(body))[1].splitlines()
    names = [line.partition(":")[0] for line in said]
    assert set(names) == {"first", "second"}
    assert names == sorted(names)


def test_a_bar_that_cannot_be_drawn_does_not_keep_others_from_being_shown():
    pytest.importorskip("rich")
    body = """
    import rich.console
    works = rich.console.Console
    def fails(**settings):
        rich.console.Console = works
        raise OSError("no such terminal")
    rich.console.Console = fails
    with progress("first"):
        time.sleep(0.2)
    with progress("next"):
        time.sleep(0.2)
    """
    said, status = on_terminal(script(body))
    assert status == 0
    assert "first" not in said
    assert "next" in said


def screen(said):
    """The lines that a terminal shows after all this: erased ones are gone, and new words stand over old ones."""
    lines, row, column = [""], 0, 0
    for count, action, words in re.findall(r"\x1b\[([0-9;?]*)([a-zA-Z])|([\r\n]|[^\x1b\r\n]+)", said):
        if action == "K":
            lines[row] = ""
        elif action == "A":
            row -= int(count or 1)
        elif words == "\r":
            column = 0
        elif words == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif words:
            lines[row] = lines[row].ljust(column)[:column] + words + lines[row][column + len(words) :]
            column += len(words)
    return [line.rstrip() for line in lines if line.strip()]


def test_printing_goes_above_the_bar():
    pytest.importorskip("rich")
    body = COUNTING.replace("time.sleep(0.01)", "time.sleep(0.01); done not in (30, 40) or print('found', done)")
    assert screen(on_terminal(script(body))[0]) == ["found 30", "found 40", "result"]


def test_shares_are_not_counted(capsys, monkeypatch):
    monkeypatch.setattr(module, "DELAY", 0.0)
    with progress("reading", total=1.0) as step:
        step(0.5, "writing")
        time.sleep(0.05)
    said = capsys.readouterr().err
    assert " of " not in said
    assert said.endswith("reading: done after 0 s\n")


def test_closed_standard_error_is_no_reason_to_fail():
    out, _ = piped(script(before="sys.stderr.close()"))
    assert out == "result\n"
    out, _ = piped(script(before="sys.stderr = None"))
    assert out == "result\n"


def calls_in(function, *arguments):
    """The names of all functions that are called, those of C too."""
    names = []

    def note(frame, event, called):
        if event in ("call", "c_call") and called is not sys.setprofile:
            names.append(called.__name__ if event == "c_call" else frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function(*arguments)
    finally:
        sys.setprofile(before)
    return names


def test_it_costs_next_to_nothing():
    """A step is an assignment: it calls nothing, draws nothing and waits for no lock. Quiet work has no thread."""
    with progress("steps", total=10**6) as step:
        assert calls_in(step, 1) == ["step"]
        assert calls_in(step, 2, "a note") == ["step"]
    threads = threading.active_count()
    with progress("quiet", show=False) as quiet:
        assert threading.active_count() == threads
        assert calls_in(quiet, 1) == ["say_nothing"]


NOTEBOOK = """
import time
import factorstream.progress as module
module.DELAY, module.DRAWN_EVERY = 0.05, 0.05
with module.progress("<b>counting", total=20) as step:
    for done in range(20):
        time.sleep(0.01)
        step(done + 1)
    with module.progress("inner"):
        time.sleep(0.15)
"""


def test_a_bar_in_a_notebook():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    seen = []

    class Watching(nbclient.NotebookClient):
        def process_message(self, msg, cell, cell_index):
            if msg["msg_type"] in ("display_data", "update_display_data"):
                seen.append(msg["content"]["data"])
            return super().process_message(msg, cell, cell_index)

    Watching(notebook, timeout=60, kernel_name="python3").execute()
    (output,) = notebook.cells[0].outputs  # one output, which was replaced
    assert output["data"]["text/plain"] == "<b>counting: 20 done after 0 s"
    assert output["data"]["text/html"] == "<div>&lt;b&gt;counting: 20 done after 0 s</div>"
    assert len(seen) > 3
    assert "<progress value=" in seen[1]["text/html"]
    assert "&lt;b&gt;counting: " in seen[1]["text/html"]


def test_nothing_is_cut_off_where_a_line_is_short(monkeypatch):
    console = pytest.importorskip("rich.console")
    narrow = console.Console(file=(page := io.StringIO()), width=80, force_terminal=True)
    monkeypatch.setattr(console, "Console", lambda **options: narrow)
    work = module._Work("SequenceFilter, sweep 2 of at most 50, bound -0.012 nats per entry, 3 components", 200)
    work.step(50)
    module._Bar().draw(work)
    for word in (*work.name.split(), "25%, 50 of 200, ", "per second, ", " left"):
        assert word in page.getvalue()
