"""Runs a program of the course and compares its output with the comment at the end of its source.

usage: course.py PROGRAM SOURCE

The comment begins with "// Prints:" or "// Prints, numbers within 5 %:". Text must be the same.
Numbers may differ by that share, or by one in the last digit that is printed, because training
rounds differently on other processors. A number after "~" was measured, as times are, and may be any.
"""
import re
import subprocess
import sys

NUMBER = re.compile(r"(~?)(-?\d+(?:\.\d+)?)")
HEADER = re.compile(r"^// Prints(?:, numbers within (\d+(?:\.\d+)?) %)?:\n", re.MULTILINE)


def fits(wanted, got, share):
    if wanted[0] == "~":
        return got[0] == "~"
    decimals = len(wanted[1].partition(".")[2])
    a, b = float(wanted[1]), float(got[1])
    allowed = max(share * abs(a), 1.01 * 10**-decimals) if share > 0 else 0
    return wanted[0] == got[0] and abs(a - b) <= allowed


def difference(expected, output, share):
    """The first line that does not fit, or None. Runs of blanks count as one: columns may shift."""
    wanted_lines, lines = expected.splitlines(), output.splitlines()
    for number, (wanted, line) in enumerate(zip(wanted_lines, lines), 1):
        text = [" ".join(NUMBER.sub("#", t).split()) for t in (wanted, line)]
        numbers = zip(NUMBER.findall(wanted), NUMBER.findall(line))
        if text[0] != text[1] or not all(fits(w, g, share) for w, g in numbers):
            return f"line {number}: expected\n  {wanted}\nbut it printed\n  {line}"
    if len(wanted_lines) != len(lines):
        return f"expected {len(wanted_lines)} lines, not {len(lines)}"
    return None


def main():
    program, source = sys.argv[1:]
    text = open(source, encoding="utf-8").read()
    header = list(HEADER.finditer(text))
    if not header:
        sys.exit(f"{source}: it does not end with the comment that says what it prints")
    expected = re.sub(r"^// ?", "", text[header[-1].end():], flags=re.MULTILINE)
    output = subprocess.run([program], stdout=subprocess.PIPE, check=True, text=True).stdout
    found = difference(expected, output, float(header[-1][1] or 0) / 100)
    if found:
        sys.exit(f"{source}: {found}\n\nAll of it:\n{output}")


if __name__ == "__main__":
    main()
