"""One side of a comparison in a process of its own, stopped while the other side works."""
from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import Any


class Worker:
    """Runs `command`, which takes a sample for each line it reads and answers with one line of JSON."""

    def __init__(self, command: list[str], threads: int):
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                         env=os.environ | {'OMP_NUM_THREADS': str(threads)})
        self.first = self.sample()

    def sample(self) -> Any:
        self._process.send_signal(signal.SIGCONT)
        try:
            self._process.stdin.write('\n')
            self._process.stdin.flush()
        except BrokenPipeError:
            raise RuntimeError('a worker failed') from None
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError('a worker failed')
        self._process.send_signal(signal.SIGSTOP)
        return json.loads(answer)

    def close(self) -> None:
        self._process.send_signal(signal.SIGCONT)
        self._process.stdin.close()
        self._process.wait()


def alternate(workers: list[Worker], rounds: int) -> list[list[Any]]:
    """Samples of each worker, taken by turns, the order reversed from round to round."""
    samples = [[] for _ in workers]
    for i in range(rounds):
        order = range(len(workers))
        for side in order if i % 2 == 0 else reversed(order):
            samples[side].append(workers[side].sample())
    return samples
