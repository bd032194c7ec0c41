#!/usr/bin/env python3
"""Compares this tree with an earlier revision of it: the rows of compare.py and translate.py, without
their peers.

    bench/peers/against.py REVISION [--only NAME ...] [--rounds N] [--json FILE]

Builds both, the earlier one in build/against. Each side of a row is a process of its own, stopped while
the other one works. A ratio is the median time of the earlier revision divided by ours; below 0.97 it
is marked, and the exit code is 1. Rows of translate.py need $ATTEND_DATA, as it says itself."""
from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from compare import choose, require_peer, settle_environment  # noqa: E402
from worker import Worker, alternate  # noqa: E402

ALLOWED = 0.97  # noise of a row on a shared machine


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('revision', metavar='REVISION', help='such as HEAD~3, or a commit')
    parser.add_argument('--only', nargs='+', metavar='NAME', help='rows to run; all by default')
    parser.add_argument('--rounds', type=int, default=15, help='(default: %(default)s)')
    parser.add_argument('--threads', type=int, default=2, help='of both sides (default: %(default)s)')
    parser.add_argument('--json', metavar='FILE', help='also write the rows there')
    parser.add_argument('--worker', nargs=2, metavar=('LIBRARY', 'ROW'), help=argparse.SUPPRESS)
    return parser.parse_args()


def earlier_tree(revision: str) -> Path:
    """The files of a revision, in a worktree below build/."""
    from library import ROOT

    def git(*words: str) -> str:
        return subprocess.run(['git', *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    commit = git('rev-parse', '--verify', revision + '^{commit}').strip()
    tree = ROOT / 'build/against' / commit[:12]
    if not tree.exists():
        git('worktree', 'prune')
        git('worktree', 'add', '--detach', os.fspath(tree), commit)
    return tree


def work(library: Path, name: str, threads: int) -> None:
    """One side of a row of compare.py: seconds a step, for each line that it reads."""
    import numpy as np

    from cases import all_cases
    from library import Library, Ours
    from measure import iterations_for, sample
    case = choose(all_cases(), [name])[0]
    try:
        ours = Ours(Library(library, threads), case.kind, case.inputs(np.random.default_rng(1)))
    except RuntimeError as error:  # a row that the earlier revision does not have
        sys.exit(f'{name}: {error}')
    ours.run(2)
    iterations = iterations_for(ours)
    for _ in sys.stdin:
        print(json.dumps(sample(ours, iterations)), flush=True)
    ours.close()


def report(name: str, samples: list[list[float]]) -> dict:
    before, now = (statistics.median(side) for side in samples)
    row = {'name': name, 'ratio': before / now, 'before_ms': 1e3 * before, 'now_ms': 1e3 * now}
    print(f'{name:<24} {row["ratio"]:>6.3f} {row["before_ms"]:>10.3f} {row["now_ms"]:>10.3f}'
          f'{"" if row["ratio"] >= ALLOWED else "  SLOWER"}', flush=True)
    return row


def compare_rows(libraries: list[Path], options: argparse.Namespace, names: list[str]) -> list[dict]:
    rows = []
    for name in names:
        workers = []
        try:
            for library in libraries:
                workers.append(Worker(
                    [sys.executable, os.path.abspath(__file__), options.revision, '--threads',
                     str(options.threads), '--worker', os.fspath(library), name], options.threads))
            rows.append(report(name, alternate(workers, options.rounds)))
        except RuntimeError as error:
            print(f'{name:<24} not compared: {error}', flush=True)
        for worker in workers:
            worker.close()
    return rows


def translate_rows(libraries: list[Path], options: argparse.Namespace, cases: list) -> list[dict]:
    import translate
    translate.require_data()
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        translate.write_models({case.size for case in cases}, folder, sides=('ours',))
        for case in cases:
            workers = []
            for options.library in libraries:
                workers.append(translate.worker(case, 'ours', options, folder / case.size))
            samples = alternate(workers, options.rounds)
            rows.append(report(case.name, [[s['seconds'] for s in side] for side in samples]))
            for worker in workers:
                worker.close()
    return rows


def main() -> None:
    options = arguments()
    settle_environment(options.threads)
    require_peer()
    if options.worker:
        return work(Path(options.worker[0]), options.worker[1], options.threads)
    import translate
    from cases import all_cases
    from library import ROOT, build
    names = [case.name for case in all_cases()]
    decoding = {case.name: case for case in translate.CASES}
    for name in options.only or ():
        if name not in names and name not in decoding:
            sys.exit(f'against.py: no row is called {name}; there are {", ".join([*names, *decoding])}')
    libraries = [build(root=tree) for tree in (earlier_tree(options.revision), ROOT)]
    print(f'{"name":<24} {"ratio":>6} {"before ms":>10} {"now ms":>10}')
    rows = compare_rows(libraries, options, [n for n in names if n in (options.only or names)])
    chosen = [case for name, case in decoding.items() if name in (options.only or decoding)]
    if chosen:
        rows += translate_rows(libraries, options, chosen)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1))
    sys.exit(any(row['ratio'] < ALLOWED for row in rows))


if __name__ == '__main__':
    main()
