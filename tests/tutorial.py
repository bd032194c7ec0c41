"""Runs the commands of docs/tutorial.md in order and compares what they print with what the page says.

usage: tutorial.py PAGE PREFIX WORK

PREFIX is an installed Attend, WORK a directory to work in. In the page:
- a fenced block whose first line names a file after the language (```python NAME) becomes that file;
- an indented line that begins with "$ " is a command; a backslash at its end continues it;
- indented lines beneath it are its output, standard error included. "..." stands for any text of a
  line, and alone on a line for any lines. Without such lines the output is not compared.
Words must be the same. Training rounds differently on other processors, so numbers beside words may
differ by a tenth; a line of one number alone is an answer and must be the same.
"""
import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
SHARE = 0.1


def parts(page):
    """The page's files and commands in order: (name, text) and (command, list of lines)."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found, i = [], 0
    while i < len(lines):
        line = lines[i]
        i += 1
        fence = re.match(r"```\w+(?: (\S+))?$", line)
        if fence:
            end = lines.index("```", i)
            if fence[1]:
                found.append(("file", fence[1], "\n".join(lines[i:end]) + "\n"))
            i = end + 1
        elif line.startswith("    $ "):
            command = line[6:]
            while command.endswith("\\"):
                command = command[:-1] + lines[i].strip()
                i += 1
            output = []
            while i < len(lines) and lines[i].startswith("    ") and not lines[i].startswith("    $ "):
                output.append(lines[i][4:])
                i += 1
            found.append(("command", command, output))
    return found


def close(wanted, got):
    a, b = float(wanted), float(got)
    decimals = len(wanted.partition(".")[2])
    return abs(a - b) <= max(SHARE * abs(a), 1.01 * 10**-decimals)


def fits(wanted, line):
    """Whether a printed line is the line of the page."""
    if NUMBER.fullmatch(wanted.strip()):
        return wanted.strip() == line.strip()
    pattern, numbers = "", []
    for piece in re.split(r"(\.\.\.|\s+|-?\d+(?:\.\d+)?)", wanted.rstrip()):
        if piece == "...":
            pattern += ".*"
        elif piece.isspace():
            pattern += r"\s+"
        elif NUMBER.fullmatch(piece):
            pattern += r"(-?\d+(?:\.\d+)?)"
            numbers.append(piece)
        else:
            pattern += re.escape(piece)
    match = re.fullmatch(pattern, line.rstrip())
    return bool(match) and all(close(w, g) for w, g in zip(numbers, match.groups()))


def first_difference(expected, lines):
    """The first expected line that was not printed in its place, or None."""
    position, anywhere = 0, False
    for wanted in expected:
        if wanted.strip() == "...":
            anywhere = True
            continue
        rest = range(position, len(lines) if anywhere else min(position + 1, len(lines)))
        place = next((i for i in rest if fits(wanted, lines[i])), None)
        if place is None:
            return wanted
        position, anywhere = place + 1, False
    return None if anywhere or position == len(lines) else "the end of the output"


def run(command, work, environment):
    """Output and exit code. A command that serves is stopped after its first line."""
    process = subprocess.Popen(["bash", "-c", command], cwd=work, env=environment, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    if not command.startswith("attend explore"):
        output = process.communicate()[0]
        return output, process.returncode
    first = process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)
    process.communicate()
    return first, 0 if first else 1


def main():
    page, prefix, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    libraries = os.path.dirname(os.path.dirname(
        glob.glob(f"{prefix}/**/attend.pc", recursive=True)[0]))
    environment = os.environ | {
        "PATH": f"{prefix}/bin:{os.environ['PATH']}", "PKG_CONFIG_PATH": f"{libraries}/pkgconfig",
        "LD_LIBRARY_PATH": libraries, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    for kind, text, more in parts(page):
        if kind == "file":
            (work / text).write_text(more, encoding="utf-8")
            continue
        output, code = run(text, work, environment)
        if code != 0:
            sys.exit(f"{page}: {text}: exit {code}\n{output}")
        wrong = first_difference(more, output.splitlines()) if more else None
        if wrong:
            sys.exit(f"{page}: {text}: expected\n  {wrong}\nbut it printed\n{output}")


if __name__ == "__main__":
    main()
