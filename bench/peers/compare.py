#!/usr/bin/env python3
"""Compares Attend with PyTorch: both in this one process, by turns, on the same number of threads.

    bench/peers/compare.py [--only NAME ...] [--rounds N] [--json FILE]

Each row first checks that the two sides give the same results. A ratio is the median time of PyTorch
divided by ours; the percentage is of what the machine was measured to do in the same rounds."""
from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# PyTorch takes large blocks from malloc at each step: without these it pays for page faults, not work.
BEST_MALLOC = {'MALLOC_MMAP_THRESHOLD_': '1073741824', 'MALLOC_TRIM_THRESHOLD_': '1073741824',
               'MALLOC_TOP_PAD_': '67108864'}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--only', nargs='+', metavar='NAME', help='rows to run; all by default')
    parser.add_argument('--rounds', type=int, default=15, help='at least 7 (default: %(default)s)')
    parser.add_argument('--threads', type=int, default=2, help='of both sides (default: %(default)s)')
    parser.add_argument('--json', metavar='FILE', help='also write the rows there')
    parser.add_argument('--library', type=Path, metavar='FILE',
                        help='libattend_peer.so, when it is not to be built')
    parser.add_argument('--no-memory', action='store_true', help='do not measure the peak memory')
    parser.add_argument('--memory-of', nargs=2, metavar=('SIDE', 'FORMULATION'),
                        help=argparse.SUPPRESS)  # print the peak memory of one side of one row
    options = parser.parse_args()
    if options.rounds < 7:
        parser.error('--rounds must be at least 7')
    return options


def settle_environment(threads: int) -> None:
    """Starts this program again where settings are missing that are read when a process starts."""
    wanted = BEST_MALLOC | {'OMP_NUM_THREADS': str(threads)}
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | wanted)


def require_peer() -> None:
    try:
        import numpy  # noqa: F401
        import torch  # noqa: F401
    except ImportError as error:
        print(f'compare.py needs PyTorch and numpy ({error}):\n'
              '  python3 -m venv peers && peers/bin/pip install torch==2.13.0 numpy\n'
              '  peers/bin/python bench/peers/compare.py', file=sys.stderr)
        sys.exit(2)


def choose(cases, names):
    if not names:
        return cases
    known = {case.name: case for case in cases}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f'compare.py: no row is called {", ".join(unknown)}; there are {", ".join(known)}',
              file=sys.stderr)
        sys.exit(2)
    return [known[name] for name in names]


def memory_in_new_process(row, side: str, library: Path, threads: int) -> float:
    """In a process of its own, so that neither side reuses what the other freed."""
    command = [sys.executable, os.path.abspath(__file__), '--only', row.name, '--threads', str(threads),
               '--library', os.fspath(library), '--memory-of', side, row.peer]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


HEADER = (f'{"name":<20} {"ratio":>6} {"bar":>5} {"ours ms":>9} {"peer ms":>9} {"of limit":>9}  '
          f'{"ours MB":>8} {"peer MB":>8}  peer, limit')


def line(row) -> str:
    limit = (f'{row.limit_value / 1e9:.0f} GFLOP/s' if row.limit == 'multiply-adds'
             else f'{row.limit_value / 1e9:.1f} GB/s' + (' read' if row.limit == 'reads' else ''))
    also = ''.join(f'; {ratio:.2f} of {name}' for name, ratio in row.also.items())
    return (f'{row.name:<20} {row.ratio:>6.2f} {row.at_least:>5.1f} {row.ours_ms:>9.3f} '
            f'{row.peer_ms:>9.3f} {row.percent_of_limit:>8.0f}%  {row.ours_mb:>8.1f} {row.peer_mb:>8.1f}'
            f'  {row.peer}, {limit}{also}{"" if row.reached else "  BELOW"}')


def main() -> None:
    options = arguments()
    settle_environment(options.threads)
    require_peer()
    import torch

    from cases import all_cases
    from library import Library, build
    from measure import compare, peak_memory

    torch.set_num_threads(options.threads)
    cases = choose(all_cases(), options.only)
    if options.memory_of:
        side, formulation = options.memory_of
        library = Library(options.library, options.threads) if side == 'ours' else None
        print(peak_memory(cases[0], library, formulation))
        return

    path = options.library or build()
    library = Library(path, options.threads)
    print(f'PyTorch {torch.__version__}, {options.threads} threads, {options.rounds} rounds\n{HEADER}')
    rows, failed = [], False
    for case in cases:
        try:
            row = compare(case, library, options.rounds)
        except RuntimeError as error:
            print(f'{case.name:<20} FAILED: {error}', flush=True)
            failed = True
            continue
        if not options.no_memory:
            row.ours_mb = memory_in_new_process(row, 'ours', path, options.threads)
            row.peer_mb = memory_in_new_process(row, 'peer', path, options.threads)
        rows.append(row)
        print(line(row), flush=True)
    if options.json:
        with open(options.json, 'w') as file:
            json.dump([dataclasses.asdict(row) for row in rows], file, indent=1)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
