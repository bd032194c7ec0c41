"""The rows of the comparison. A row is a Case in the file of its family, with PyTorch's formulations
beside the inputs; our side of the family is the .cpp of the same name."""
from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

FAMILIES = ('linear', 'rowwise', 'recurrent', 'embedding', 'optimizer', 'convolution',
            'attention', 'train_rnn', 'train_transformer', 'train_gpt', 'gpt_decode', 'bert')  # files of this folder

Arrays = dict[str, np.ndarray]

with open('/proc/cpuinfo') as _lines:
    BF16 = any(word in ('avx512_bf16', 'amx_bf16') for word in _lines.read().split())  # products in bfloat16


@dataclass
class Peer:
    """PyTorch's side of a case, made from the inputs as tensors. Its results have the names of ours:
    y (the value of step), d_NAME (the gradient of a leaf), and the tensors that step changes."""
    leaves: dict[str, Any]  # their gradients are set to None before each step
    step: Callable[[], Any]  # what is timed
    prepare: Callable[[], None] = lambda: None  # before each step, not timed
    changed: dict[str, Any] = field(default_factory=dict)
    layout: Callable[[str, Any], Any] = lambda name, tensor: tensor  # a result as ours is laid out


def agree(inputs: Arrays, ours: Arrays, peer: Arrays) -> None:
    """Raises ValueError unless both sides have the same results within rounding."""
    if ours.keys() != peer.keys():
        raise ValueError(f'results are {sorted(ours)} but the peer has {sorted(peer)}')
    for name, expected in peer.items():
        expected = expected.ravel()
        if ours[name].size != expected.size:
            raise ValueError(f'{name} has {ours[name].size} values but the peer has {expected.size}')
        worst = np.abs(ours[name] - expected).max()
        if not worst <= 1e-4 * np.abs(expected).max():
            raise ValueError(f'{name} differs by {worst:.3g} where values reach '
                             f'{np.abs(expected).max():.3g}')


@dataclass
class Case:
    name: str
    kind: str  # of our side
    inputs: Callable[[np.random.Generator], Arrays]
    peers: dict[str, Callable[[dict[str, Any]], Peer]]  # formulations by name; the fastest counts
    at_least: float  # the ratio to reach
    also: dict[str, Callable[[dict[str, Any]], Peer]] = field(default_factory=dict)  # shown, but not to be beaten: they
    # compute something else, such as in fewer bits
    flops: float = 0  # of one step, where arithmetic is the limit ...
    bytes: float = 0  # ... or what must be read and written at least, where memory is ...
    reads: float = 0  # ... or what must be read, where next to nothing is written
    percent_at_least: float = 0
    check: Callable[[Arrays, Arrays, Arrays], None] = agree


def all_cases() -> list[Case]:
    found = [importlib.import_module(f'{__name__}.{family}').CASES for family in FAMILIES]
    return [case for cases in found for case in cases]


def normal(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> np.ndarray:
    return scale * rng.standard_normal(shape, dtype=np.float32)


def leaf(tensor):
    """The inputs are the peer's own copies already."""
    return tensor.detach().requires_grad_()


def both_ways(leaves: dict[str, Any], dy: Any, forward: Callable[[], Any], **rest: Any) -> Peer:
    """The usual case: forward, then backward from the gradient dy of its value."""
    def step():
        y = forward()
        y.backward(dy)
        return y
    return Peer(leaves, step, **rest)
