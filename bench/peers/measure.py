"""Times and memory of the two sides of a case."""
from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from cases import Case
from library import Library, Ours

SAMPLE_SECONDS = 0.02  # a sample repeats a step until it lasts this long
PAUSE_SECONDS = 0.005  # lets the threads of one side go to sleep before the other starts
STEPS_BEFORE_CHECK = 2


class Theirs:
    """PyTorch's side of a case in one formulation; the same methods as Ours."""

    def __init__(self, case: Case, formulation: str, inputs: dict[str, np.ndarray]):
        tensors = {name: torch.from_numpy(np.array(values)) for name, values in inputs.items()}
        self._peer = (case.peers | case.also)[formulation](tensors)

    def _once(self) -> tuple[float, Any]:
        peer = self._peer
        for leaf in peer.leaves.values():
            leaf.grad = None
        peer.prepare()
        start = time.perf_counter()
        y = peer.step()
        return time.perf_counter() - start, y

    def run(self, iterations: int) -> float:
        return sum(self._once()[0] for _ in range(iterations))

    def results(self) -> dict[str, np.ndarray]:
        _, y = self._once()
        peer = self._peer
        found = {} if y is None else {'y': y}
        found |= {'d_' + name: leaf.grad for name, leaf in peer.leaves.items()}
        found |= peer.changed
        return {name: peer.layout(name, tensor).detach().numpy() for name, tensor in found.items()}

    def close(self) -> None:
        self._peer = None


@dataclass
class Row:
    """What one case gave."""
    name: str
    ratio: float  # the peer's time / ours
    ours_ms: float
    peer_ms: float
    percent_of_limit: float
    limit: str  # what the percentage is of
    limit_value: float  # operations or bytes a second
    peer: str  # the formulation that was fastest
    at_least: float
    percent_at_least: float
    also: dict[str, float] = field(default_factory=dict)  # ratios to other formulations
    ours_mb: float = 0
    peer_mb: float = 0

    @property
    def reached(self) -> bool:
        return self.ratio >= self.at_least and self.percent_of_limit >= self.percent_at_least


def sample(side: Ours | Theirs, iterations: int) -> float:
    """Seconds a step, after a pause and a step that warms the caches again."""
    time.sleep(PAUSE_SECONDS)
    side.run(1)
    return side.run(iterations) / iterations


def iterations_for(side: Ours | Theirs) -> int:
    return max(1, round(SAMPLE_SECONDS / min(side.run(1) for _ in range(3))))


def check(case: Case, inputs: dict[str, np.ndarray], ours: Ours, theirs: Theirs) -> None:
    for side in (ours, theirs):
        side.run(STEPS_BEFORE_CHECK)
    try:
        case.check(inputs, ours.results(), theirs.results())
    except ValueError as error:
        raise RuntimeError(f'the two sides disagree: {error}') from error


def fastest(case: Case, inputs: dict[str, np.ndarray]) -> str:
    """The name of the peer's fastest formulation, by short alternating trials."""
    if len(case.peers) == 1:
        return next(iter(case.peers))
    sides = {name: Theirs(case, name, inputs) for name in case.peers}
    counts = {name: iterations_for(side) for name, side in sides.items()}
    times = {name: [] for name in sides}
    for _ in range(5):
        for name, side in sides.items():
            times[name].append(sample(side, counts[name]))
    return min(times, key=lambda name: statistics.median(times[name]))


def compare(case: Case, library: Library, rounds: int) -> Row:
    inputs = case.inputs(np.random.default_rng(1))
    formulation = fastest(case, inputs)
    ours, theirs = Ours(library, case.kind, inputs), Theirs(case, formulation, inputs)
    check(case, inputs, ours, theirs)
    work, limited_by, probe = ((case.flops, 'multiply-adds', library.fma_peak) if case.flops else
                               (case.reads, 'reads', library.read_bandwidth) if case.reads else
                               (case.bytes, 'memory', library.bandwidth))
    others = [Theirs(case, name, inputs) for name in case.also]
    sides = [(side, iterations_for(side), []) for side in (ours, theirs, *others)]
    limits = []
    for i in range(rounds):
        time.sleep(PAUSE_SECONDS)
        limits.append(probe())
        for side, iterations, times in sides if i % 2 == 0 else reversed(sides):
            times.append(sample(side, iterations))
    for side, _, _ in sides:
        side.close()
    ours_seconds, peer_seconds, *other_seconds = (statistics.median(times) for _, _, times in sides)
    limit = statistics.median(limits)
    return Row(case.name, peer_seconds / ours_seconds, 1e3 * ours_seconds, 1e3 * peer_seconds,
               100 * work / ours_seconds / limit, limited_by, limit, formulation, case.at_least,
               case.percent_at_least,
               {name: seconds / ours_seconds for name, seconds in zip(case.also, other_seconds)})


def status_kb(*names: str) -> list[int]:
    with open('/proc/self/status') as lines:
        fields = dict(line.split(':', 1) for line in lines)
    return [int(fields[name].split()[0]) for name in names]


def peak_memory(case: Case, library: Library | None, formulation: str) -> float:
    """MB that the case adds to this process at its peak: its own copies of the inputs, results,
    gradients and state. Pages of program files are left out. Ours when there is a library."""
    inputs = case.inputs(np.random.default_rng(1))
    with open('/proc/self/clear_refs', 'w') as file:
        file.write('5')  # the peak starts again from here
    before, files_before = status_kb('VmRSS', 'RssFile')
    side = Ours(library, case.kind, inputs) if library else Theirs(case, formulation, inputs)
    side.run(3)
    peak, files = status_kb('VmHWM', 'RssFile')
    side.close()
    return (peak - before - (files - files_before)) / 1024
