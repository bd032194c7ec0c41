"""Our side: the shared library of bench/peers, found or built, and called through ctypes."""
from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


class Array(ctypes.Structure):
    _fields_ = [('name', ctypes.c_char_p), ('data', ctypes.c_void_p), ('is_integer', ctypes.c_int32),
                ('rank', ctypes.c_int32), ('extents', ctypes.c_int64 * 5)]


BUILT = {'attend_peer': 'bench/peers/libattend_peer.so', 'attend_cli': 'cli/attend'}


def build(target: str = 'attend_peer', root: Path = ROOT) -> Path:
    """Builds a target of the release of a source tree and returns its path."""
    for command in (['cmake', '--preset', 'release'],
                    ['cmake', '--build', '--preset', 'release', '--target', target]):
        done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise RuntimeError(f'{" ".join(command)} failed:\n{done.stdout.decode()}')
    return root / 'build/release' / BUILT[target]


class Library:
    def __init__(self, path: Path, threads: int):
        self._c = ctypes.CDLL(os.fspath(path))
        for name, result, *arguments in (
                ('error', ctypes.c_char_p),
                ('threads', None, ctypes.c_int),
                ('fma_peak', ctypes.c_double),
                ('bandwidth', ctypes.c_double),
                ('read_bandwidth', ctypes.c_double),
                ('create', ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(Array), ctypes.c_int),
                ('destroy', None, ctypes.c_void_p),
                ('run', ctypes.c_double, ctypes.c_void_p, ctypes.c_int),
                ('results', ctypes.c_int, ctypes.c_void_p),
                ('result_name', ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int),
                ('result', ctypes.c_int64, ctypes.c_void_p, ctypes.c_int,
                 ctypes.POINTER(ctypes.POINTER(ctypes.c_float)))):
            function = getattr(self._c, 'attend_peer_' + name, None)
            if function is None:  # an earlier revision's, of which against.py asks for nothing newer
                continue
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        self.threads(threads)

    def failure(self) -> RuntimeError:
        return RuntimeError(self.error().decode())


class Ours:
    """Our side of a case."""

    def __init__(self, library: Library, kind: str, inputs: dict[str, np.ndarray]):
        self._library = library
        arrays = (Array * len(inputs))()
        inputs = {name: np.asarray(values) for name, values in inputs.items()}
        for array, (name, values) in zip(arrays, inputs.items()):
            assert values.dtype in (np.float32, np.int32) and values.flags.c_contiguous, name
            array.name, array.data = name.encode(), values.ctypes.data
            array.is_integer, array.rank = values.dtype == np.int32, values.ndim
            array.extents[:values.ndim] = values.shape
        self._case = library.create(kind.encode(), arrays, len(arrays))
        if not self._case:
            raise library.failure()

    def close(self) -> None:
        self._library.destroy(self._case)

    def run(self, iterations: int) -> float:
        """Seconds spent in the steps."""
        seconds = self._library.run(self._case, iterations)
        if seconds < 0:
            raise self._library.failure()
        return seconds

    def results(self) -> dict[str, np.ndarray]:
        """Runs one step; copies of its results, flat."""
        count = self._library.results(self._case)
        if count < 0:
            raise self._library.failure()
        found = {}
        for i in range(count):
            data = ctypes.POINTER(ctypes.c_float)()
            size = self._library.result(self._case, i, ctypes.byref(data))
            if size < 0:
                raise self._library.failure()
            name = self._library.result_name(self._case, i).decode()
            found[name] = np.ctypeslib.as_array(data, (size,)).copy()
        return found
