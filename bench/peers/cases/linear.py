"""Fully connected layers."""
from torch.nn import functional as F

from . import Case, both_ways, leaf, normal

ROWS = 2048


def linear(t):
    leaves = {name: leaf(t[name]) for name in ('x', 'weight', 'bias')}
    return both_ways(leaves, t['dy'], lambda: F.linear(*leaves.values()))


def case(width, out):
    def inputs(rng):
        return {'x': normal(rng, ROWS, width), 'weight': normal(rng, out, width, scale=width ** -0.5),
                'bias': normal(rng, out), 'dy': normal(rng, ROWS, out)}
    return Case(f'linear_{width}_{out}', 'linear', inputs, {'F.linear': linear}, at_least=1.0,
                flops=3 * 2 * ROWS * width * out, percent_at_least=75)


CASES = [case(512, 2048), case(512, 512)]
