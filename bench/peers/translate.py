#!/usr/bin/env python3
"""Compares Attend's decoding with CTranslate2's: the same weights in fp32, the same sources, by turns, on
the same number of threads.

    ATTEND_DATA=FOLDER bench/peers/translate.py [--only NAME ...] [--rounds N] [--json FILE]

FOLDER holds multi30k/val.en.gz. Each row first checks that both sides write the same tokens. A ratio is
the median of our tokens a second divided by theirs; memory is the peak above what was there before the
model was loaded. The last column, where one row a step reads all weights of the decoder, is the speed of that beside
the speed at which the same process reads memory. Each side of a row is a process of its own, stopped while the other one works."""
from __future__ import annotations

import argparse
import ctypes
import dataclasses
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from worker import Worker, alternate  # noqa: E402

LENGTH = 30  # tokens of every target
SAME_AT_LEAST = 0.9  # share of targets: rounding may decide between two beams
BAR_MILLISECONDS = 50  # to the first line
DATA = Path(os.environ.get('ATTEND_DATA', '.')) / 'multi30k'


@dataclass(frozen=True)
class Case:
    size: str
    beam: int
    batch: int
    calls: int  # in a sample

    @property
    def name(self) -> str:
        return f'{self.size}_beam{self.beam}_batch{self.batch}'

    @property
    def tokens(self) -> int:  # that a sample writes
        return self.calls * self.batch * LENGTH

    @property
    def bytes(self) -> float:  # of weights that a token reads, where steps have one row; otherwise 0
        from translate_model import SIZES
        size = SIZES[self.size]
        layer = 6 * size.width * size.width + 2 * size.width * size.feed_forward
        return 4 * (size.layers * layer + size.vocabulary * size.width) if self.beam * self.batch == 1 else 0


CASES = [Case('small', 1, 1, 16), Case('small', 5, 1, 8), Case('small', 1, 32, 4), Case('small', 5, 32, 1),
         Case('base', 1, 1, 4), Case('base', 5, 1, 2), Case('base', 1, 32, 1), Case('base', 5, 32, 1)]
START_ROW = 'start_to_first_line'


@dataclass
class Row:
    name: str
    ratio: float  # our tokens a second / theirs
    ours: float  # tokens a second
    theirs: float
    ours_mb: float
    theirs_mb: float
    same: float  # share of the targets that are the same on both sides
    read: float  # GB/s of weights, or 0
    limit: float  # GB/s that memory was read at

    def __str__(self) -> str:
        read = f'  {self.read:.0f} of {self.limit:.0f} GB/s, {100 * self.read / self.limit:.0f}%' if self.read else ''
        reached = self.ratio >= 1 and self.ours_mb <= self.theirs_mb
        return (f'{self.name:<20} {self.ratio:>6.2f} {self.ours:>9.0f} {self.theirs:>9.0f} '
                f'{self.ours_mb:>8.0f} {self.theirs_mb:>9.0f} {100 * self.same:>5.0f}%'
                f'{read}{"" if reached else "  BELOW"}')


HEADER = f'{"name":<20} {"ratio":>6} {"ours t/s":>9} {"theirs":>9} {"ours MB":>8} {"theirs MB":>9} {"same":>6}  weights read'


class Attend:
    def __init__(self, library: Path, model: Path, threads: int):
        self._c = ctypes.CDLL(os.fspath(library))
        for name, result, *arguments in (
                ('error', ctypes.c_char_p),
                ('threads', None, ctypes.c_int),
                ('read_bandwidth', ctypes.c_double),
                ('transformer', ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p),
                ('translate', ctypes.c_double, ctypes.c_void_p, Sources, ctypes.POINTER(ctypes.c_int32))):
            function = getattr(self._c, 'attend_peer_' + name, None)
            if function is None:  # an earlier revision's
                continue
            function.restype, function.argtypes = result, arguments
        self._c.attend_peer_threads(threads)
        self._model = self._c.attend_peer_transformer(os.fsencode(model / 'config.json'),
                                                      os.fsencode(model / 'model.safetensors'))
        if not self._model:
            raise RuntimeError(self._c.attend_peer_error().decode())

    def read_bandwidth(self) -> float:
        function = getattr(self._c, 'attend_peer_read_bandwidth', None)
        return function() if function else 0

    def __call__(self, sources: list[list[int]], beam: int) -> tuple[float, list[list[int]]]:
        """The seconds it took, and the targets."""
        ids = [i for source in sources for i in source]
        tokens = (ctypes.c_int32 * (len(sources) * LENGTH))()
        seconds = self._c.attend_peer_translate(
            self._model, Sources((ctypes.c_int32 * len(ids))(*ids),
                                 (ctypes.c_int32 * len(sources))(*map(len, sources)), len(sources), beam,
                                 LENGTH), tokens)
        if seconds < 0:
            raise RuntimeError(self._c.attend_peer_error().decode())
        return seconds, [tokens[i:i + LENGTH] for i in range(0, len(tokens), LENGTH)]


class Sources(ctypes.Structure):
    _fields_ = [('ids', ctypes.POINTER(ctypes.c_int32)), ('lengths', ctypes.POINTER(ctypes.c_int32)),
                ('count', ctypes.c_int32), ('beam', ctypes.c_int32), ('length', ctypes.c_int32)]


class CTranslate2:
    def __init__(self, model: Path, threads: int):
        import ctranslate2
        self._translator = ctranslate2.Translator(os.fspath(model), inter_threads=1, intra_threads=threads,
                                                  compute_type='float32')

    def __call__(self, sources: list[list[int]], beam: int) -> tuple[float, list[list[int]]]:
        pieces = [['</s>' if i == 2 else str(i) for i in source] for source in sources]
        start = time.perf_counter()
        found = self._translator.translate_batch(
            pieces, beam_size=beam, min_decoding_length=LENGTH, max_decoding_length=LENGTH)
        seconds = time.perf_counter() - start
        return seconds, [[int(piece) for piece in one.hypotheses[0]] for one in found]


def read_sources(vocabulary: int) -> list[list[int]]:
    """Real sentences, a word one id; in the order of the file."""
    with gzip.open(DATA / 'val.en.gz', 'rt', encoding='utf-8') as lines:
        return [[3 + zlib.crc32(word.encode()) % (vocabulary - 3) for word in line.split()] + [2]
                for line in lines]


def status_kb(*names: str) -> list[int]:
    with open('/proc/self/status') as lines:
        fields = dict(line.split(':', 1) for line in lines)
    return [int(fields[name].split()[0]) for name in names]


def work(case: Case, folder: Path, library: Path | None, threads: int) -> None:
    """One side of a row, in a process of its own: a sample for each line that it reads."""
    if library:  # code is not the model's memory
        ctypes.CDLL(os.fspath(library))
    else:
        import ctranslate2  # noqa: F401
    from translate_model import SIZES
    sources = read_sources(SIZES[case.size].vocabulary)
    with open('/proc/self/clear_refs', 'w') as file:
        file.write('5')  # the peak starts again from here
    before, files_before = status_kb('VmRSS', 'RssFile')
    side = Attend(library, folder / 'ours', threads) if library else CTranslate2(folder / 'theirs', threads)
    for _ in sys.stdin:
        seconds, targets = 0.0, []
        for i in range(case.calls):
            taken, some = side(sources[i * case.batch:(i + 1) * case.batch], case.beam)
            seconds += taken
            targets += some
        peak, files = status_kb('VmHWM', 'RssFile')
        limit = side.read_bandwidth() if library and case.bytes else 0
        print(json.dumps({'seconds': seconds, 'targets': targets, 'limit': limit,
                          'mb': (peak - before - max(files - files_before, 0)) / 1024}), flush=True)


def worker(case: Case, side: str, options: argparse.Namespace, folder: Path) -> Worker:
    return Worker([sys.executable, os.path.abspath(__file__), '--threads', str(options.threads), '--library',
                   os.fspath(options.library), '--worker', side, case.name, os.fspath(folder)],
                  options.threads)


def compare(case: Case, options: argparse.Namespace, folder: Path) -> Row:
    workers = [worker(case, side, options, folder / case.size) for side in ('ours', 'theirs')]
    pairs = list(zip(*(worker.first['targets'] for worker in workers)))
    same = sum(a == b for a, b in pairs) / len(pairs)
    if same < SAME_AT_LEAST:
        raise RuntimeError(f'{case.name}: only {100 * same:.0f}% of the targets are the same on both sides')
    samples = alternate(workers, options.rounds)
    for one in workers:
        one.close()
    ours, theirs = (case.tokens / statistics.median(s['seconds'] for s in side) for side in samples)
    return Row(case.name, ours / theirs, ours, theirs, *(worker.first['mb'] for worker in workers), same,
               case.bytes * ours / 1e9, statistics.median(s['limit'] for s in samples[0]) / 1e9)


def start_to_first_line(options: argparse.Namespace, folder: Path) -> str:
    """Milliseconds from the start of the command to its first line, with a model of the tiny preset."""
    model, command = folder / 'tiny', options.command
    subprocess.run([command, 'train', '--source', DATA / 'val.en.gz', '--target', DATA / 'val.de.gz', '--out',
                    model, '--preset', 'tiny', '--steps', '1'], check=True, capture_output=True)
    times = []
    for _ in range(2 * options.rounds + 1):
        start = time.perf_counter()
        with subprocess.Popen([command, 'translate', model, '--max-length', '10'], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            process.stdin.write(b'A man sleeps.\n')
            process.stdin.close()
            process.stdout.readline()
            times.append(1e3 * (time.perf_counter() - start))
    milliseconds = statistics.median(times)
    return (f'{START_ROW:<20} {milliseconds:.0f} ms, {min(times):.0f} to {max(times):.0f}'
            f'{"" if milliseconds < BAR_MILLISECONDS else "  BELOW"}')


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [case.name for case in CASES] + [START_ROW]
    parser.add_argument('--only', nargs='+', metavar='NAME', default=names, choices=names,
                        help='rows to run; all by default')
    parser.add_argument('--rounds', type=int, default=7, help='(default: %(default)s)')
    parser.add_argument('--threads', type=int, default=2, help='of both sides (default: %(default)s)')
    parser.add_argument('--json', metavar='FILE', help='also write the rows there')
    parser.add_argument('--library', type=Path, metavar='FILE',
                        help='libattend_peer.so, when it is not to be built')
    parser.add_argument('--command', type=Path, metavar='FILE', help='attend, likewise')
    parser.add_argument('--models', type=Path, metavar='FOLDER', help='keep the models there')
    parser.add_argument('--worker', nargs=3, metavar=('SIDE', 'ROW', 'FOLDER'), help=argparse.SUPPRESS)
    return parser.parse_args()


def require_peer() -> None:
    try:
        import ctranslate2  # noqa: F401
        import numpy  # noqa: F401
    except ImportError as error:
        print(f'translate.py needs CTranslate2 and numpy ({error}):\n'
              '  python3 -m venv peers && peers/bin/pip install ctranslate2 numpy\n'
              '  peers/bin/python bench/peers/translate.py', file=sys.stderr)
        sys.exit(2)


def require_data() -> None:
    for path in (DATA / 'val.en.gz', DATA / 'val.de.gz'):
        if not path.exists():
            print(f'translate.py: {path} is missing; $ATTEND_DATA is the folder that holds multi30k/, with '
                  'the sentences as recipes/multi30k reads them', file=sys.stderr)
            sys.exit(2)


def write_models(names: set[str], folder: Path, sides: tuple[str, ...] = ('ours', 'theirs')) -> None:
    from translate_model import SIZES, random_weights, write_ours, write_theirs
    writers = {'ours': write_ours, 'theirs': write_theirs}
    for name in names:
        if (folder / name / sides[-1]).exists():
            continue
        weights = random_weights(SIZES[name])
        for side in sides:
            (folder / name / side).mkdir(parents=True)
            writers[side](SIZES[name], weights, folder / name / side)


def main() -> None:
    options = arguments()
    if options.worker:
        side, name, folder = options.worker
        case = next(case for case in CASES if case.name == name)
        return work(case, Path(folder), options.library if side == 'ours' else None, options.threads)
    from library import build
    require_peer()
    require_data()
    options.library = options.library or build('attend_peer')
    options.command = options.command or build('attend_cli')
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.models or Path(temporary)
        cases = [case for case in CASES if case.name in options.only]
        write_models({case.size for case in cases}, folder)
        print(HEADER)
        for case in cases:
            rows.append(compare(case, options, folder))
            print(rows[-1], flush=True)
        if START_ROW in options.only:
            print(start_to_first_line(options, Path(temporary)))
    if options.json:
        Path(options.json).write_text(json.dumps([dataclasses.asdict(row) for row in rows], indent=1))


if __name__ == '__main__':
    main()
