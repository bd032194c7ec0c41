#!/usr/bin/python3 -IS
"""Gives every hostile file that a command reads to `attend`, and measures time and memory.

    tests/hostile/measure.py build/release/tests/attend_hostile build/release/cli/attend DIRECTORY

Each must be refused by name, within 50 ms and 16 MB above what a command takes that waits for input.
DIRECTORY is made, and keeps the files. Of several runs the fastest counts: what else the machine does is
not the file's doing.
"""

# A child's peak memory counts from that of the process that starts it, so this one stays small: no
# site packages, and none but these modules.
import os
import sys
import time

MOST_SECONDS, MOST_BYTES, RUNS = 0.050, 16 << 20, 5


def run(arguments, output):
    """The exit status, what was said, seconds, and the peak memory in bytes."""
    redirect = [(os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2)]
    start = time.perf_counter()
    child = os.posix_spawn(arguments[0], arguments, os.environ, file_actions=redirect)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    with open(output, "rb") as file:
        text = file.read(1 << 16).decode(errors="replace")
    return os.waitstatus_to_exitcode(status), text, seconds, usage.ru_maxrss * 1024


def best_of(arguments, output):
    runs = [run(arguments, output) for _ in range(RUNS)]
    code, text = runs[0][:2]
    return code, text, min(r[2] for r in runs), min(r[3] for r in runs)


def idle_memory(attend, directory):
    """The peak memory of a command that has started, done next to nothing, and waits for input."""
    vocabulary = os.path.join(directory, "vocabulary")
    with open(vocabulary, "w") as file:
        file.write("attend tokenizer 1 word 4\n<unk>\n<s>\n</s>\na\n")
    (read_in, write_in), (read_out, write_out) = os.pipe(), os.pipe()
    child = os.posix_spawn(
        attend, [attend, "tokenizer", "encode", vocabulary], os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, read_in, 0), (os.POSIX_SPAWN_DUP2, write_out, 1)])
    os.write(write_in, b"a\n")
    os.read(read_out, 1)  # it has answered
    with open(f"/proc/{child}/status") as file:
        peak = next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    os.close(write_in)
    os.waitpid(child, 0)
    return peak


def faults(code, text, seconds, memory, file, expected):
    if code != (1 if expected else 0):
        yield f"exit {code}"
    if expected and (file not in text or expected not in text):
        yield "it says: " + ascii(text.strip()[:200])
    if any(ord(c) < 32 and c != "\n" for c in text):
        yield "control characters in its message"
    if seconds > MOST_SECONDS:
        yield f"{1000 * seconds:.0f} ms"
    if memory > MOST_BYTES:
        yield f"{memory / 2**20:.1f} MB"


def main():
    program, attend, directory = sys.argv[1:]
    os.makedirs(directory, exist_ok=True)
    output = os.path.join(directory, "output")
    listed = run([program, "list"], output)[1].splitlines()
    if run([program, "write", directory], output)[0] != 0:
        sys.exit("cannot write the files")
    idle_seconds = best_of([attend, "--version"], output)[2]
    idle = idle_memory(attend, directory)
    count = bad = 0
    slowest = largest = ("", 0)
    for line in listed:
        name, file, expected, *arguments = line.split("\t")
        if not any(arguments):
            continue  # no command reads it
        place = os.path.join(directory, name)
        code, text, seconds, memory = best_of(
            [attend] + [a.replace("@", place) for a in arguments], output)
        count += 1
        slowest = max(slowest, (name, seconds), key=lambda x: x[1])
        largest = max(largest, (name, memory - idle), key=lambda x: x[1])
        found = list(faults(code, text, seconds, memory - idle, file, expected))
        bad += bool(found)
        if found:
            print(f"{name}: {'; '.join(found)}")
    print(f"{count} files, {bad} not as they should be; idle: {1000 * idle_seconds:.1f} ms, "
          f"{idle / 2**20:.1f} MB")
    print(f"slowest: {slowest[0]}, {1000 * slowest[1]:.1f} ms; "
          f"largest: {largest[0]}, {largest[1] / 2**20:.1f} MB above idle")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
