"""Layers that treat each row or element by itself, and the loss."""
import numpy as np
import torch
from torch.nn import functional as F

from . import Case, both_ways, leaf, normal

CHANCE = 0.1
SMOOTHING = 0.1


def layer_norm_inputs(rng, rows=2048, width=512):
    return {'x': normal(rng, rows, width), 'weight': normal(rng, width), 'bias': normal(rng, width),
            'dy': normal(rng, rows, width)}


def layer_norm(t):
    leaves = {name: leaf(t[name]) for name in ('x', 'weight', 'bias')}
    x, weight, bias = leaves.values()
    return both_ways(leaves, t['dy'], lambda: F.layer_norm(x, weight.shape, weight, bias))


def dropout_inputs(rng, rows=2048, width=2048):
    return {'x': 1 + rng.random((rows, width), np.float32), 'dy': normal(rng, rows, width),
            'chance': np.float32(CHANCE)}


def dropout(t):
    x = leaf(t['x'])
    return both_ways({'x': x}, t['dy'], lambda: F.dropout(x, CHANCE))


def dropout_of_bits(t):
    """F.dropout draws one number an element, on one thread. 64 random bits are enough for four."""
    x = leaf(t['x'])
    dropped = round(CHANCE * 2 ** 16)

    def forward():
        bits = torch.empty(x.numel() // 4, dtype=torch.int64).random_(-2 ** 63, None)
        kept = bits.view(torch.int16).view(x.shape) >= dropped - 2 ** 15
        return x * kept.to(x.dtype).mul_(1 / (1 - CHANCE))
    return both_ways({'x': x}, t['dy'], forward)


def check_dropout(inputs, ours, peer):
    """The masks are random: each side is checked by itself."""
    for side in (ours, peer):
        y, dx = side['y'].ravel(), side['d_x'].ravel()
        kept = y != 0
        scale = 1 / (1 - CHANCE)
        if not np.allclose(y, kept * inputs['x'].ravel() * scale, rtol=1e-5):
            raise ValueError('y is neither zero nor the scaled input')
        if not np.allclose(dx, kept * inputs['dy'].ravel() * scale, rtol=1e-5):
            raise ValueError('the gradient does not have the mask of the output')
        if abs(kept.mean() - (1 - CHANCE)) > 5 * (CHANCE * (1 - CHANCE) / y.size) ** 0.5:
            raise ValueError(f'{kept.mean():.4f} of the elements are kept, not {1 - CHANCE}')


def cross_entropy_inputs(rng, rows=1024, classes=8000):
    return {'x': normal(rng, rows, classes, scale=2.0), 'smoothing': np.float32(SMOOTHING),
            'targets': rng.integers(0, classes, rows, dtype=np.int32)}


def cross_entropy(t):
    x, targets = leaf(t['x']), t['targets'].long()
    return both_ways({'x': x}, None,
                     lambda: F.cross_entropy(x, targets, label_smoothing=SMOOTHING))


def cross_entropy_by_hand(t):
    """F.cross_entropy leaves log_softmax to autograd twice over when it smooths; one mean of the
    log-probabilities and one gather is what it amounts to."""
    x, targets = leaf(t['x']), t['targets'].long()

    def forward():
        log_p = F.log_softmax(x, dim=-1)
        return (1 - SMOOTHING) * F.nll_loss(log_p, targets) - SMOOTHING * log_p.mean()
    return both_ways({'x': x}, None, forward)


# What must move at least: layer norm and dropout read x and write y, then read dy (and x) and write dx.
CASES = [
    Case('layer_norm', 'layer_norm', layer_norm_inputs, {'F.layer_norm': layer_norm}, at_least=1.3,
         bytes=5 * 4 * 2048 * 512),
    Case('dropout', 'dropout', dropout_inputs, {'F.dropout': dropout, '16 random bits': dropout_of_bits}, at_least=3.0,
         bytes=4 * 4 * 2048 * 2048, check=check_dropout),
    Case('cross_entropy', 'cross_entropy', cross_entropy_inputs,
         {'F.cross_entropy': cross_entropy, 'log_softmax + nll_loss': cross_entropy_by_hand},
         at_least=1.5, bytes=3 * 4 * 1024 * 8000),
]
