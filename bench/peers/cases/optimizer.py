"""Optimiser steps."""
import numpy as np
import torch

from . import Case, Peer, agree, leaf, normal

COUNT, SHAPE = 100, (400, 500)
RATE, WEIGHT_DECAY = 1e-3, 1e-2


def inputs(rng):
    arrays = {'count': np.float32(COUNT), 'rate': np.float32(RATE),
              'weight_decay': np.float32(WEIGHT_DECAY)}
    for i in range(COUNT):
        arrays[f'p{i}'] = normal(rng, *SHAPE, scale=0.02)
        arrays[f'g{i}'] = normal(rng, *SHAPE, scale=0.1)
    return arrays


def adamw(t):
    parameters = {f'p{i}': leaf(t[f'p{i}']) for i in range(COUNT)}
    optimizer = torch.optim.AdamW(parameters.values(), lr=RATE, weight_decay=WEIGHT_DECAY, fused=True)

    def prepare():
        for i, parameter in enumerate(parameters.values()):
            parameter.grad = None
            parameter.grad = t[f'g{i}'].clone()
    return Peer({}, optimizer.step, prepare, changed=parameters)


def check(inputs, ours, peer):
    """Of the change, which is small beside the values."""
    change = [{name: values.ravel() - inputs[name].ravel() for name, values in side.items()}
              for side in (ours, peer)]
    agree(inputs, *change)


# Parameter and both moments are read and written, the gradient is read.
CASES = [Case('adamw', 'adamw', inputs, {'AdamW(fused=True)': adamw}, at_least=1.0,
              bytes=7 * 4 * COUNT * SHAPE[0] * SHAPE[1], percent_at_least=80, check=check)]
