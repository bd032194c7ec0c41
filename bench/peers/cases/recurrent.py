"""Recurrent layers: all sequences of one length, and packed sequences of many."""
import warnings
from contextlib import nullcontext

import numpy as np
import torch
from torch.nn.utils import rnn

from . import Case, Peer, leaf, normal

# Of torch.backends.mkldnn.flags, about a GPU that is not there.
warnings.filterwarnings('ignore', message='TF32 acceleration on top of oneDNN')

STEPS, BATCH, WIDTH = 30, 64, 512
GATES = {'lstm': 4, 'gru': 3}
EVEN = np.full(BATCH, STEPS, np.int32)
SPREAD = np.linspace(STEPS, 5, BATCH).round().astype(np.int32)


def inputs(kind, lengths):
    def make(rng):
        rows, gates, scale = int(lengths.sum()), GATES[kind] * WIDTH, WIDTH ** -0.5
        return {'x': normal(rng, rows, WIDTH), 'dy': normal(rng, rows, WIDTH), 'lengths': lengths,
                'weight_ih': normal(rng, gates, WIDTH, scale=scale),
                'weight_hh': normal(rng, gates, WIDTH, scale=scale),
                'bias_ih': normal(rng, gates, scale=scale), 'bias_hh': normal(rng, gates, scale=scale)}
    return make


def layer(kind, t, **options):
    """The module with the weights of the case, and its leaves by our names."""
    module = {'lstm': torch.nn.LSTM, 'gru': torch.nn.GRU}[kind](WIDTH, WIDTH, **options)
    names = ('weight_ih', 'weight_hh', 'bias_ih', 'bias_hh')
    with torch.no_grad():
        for name in names:
            getattr(module, name + '_l0').copy_(t[name])
    return module, {name: getattr(module, name + '_l0') for name in names}


def engine(onednn):
    return nullcontext() if onednn else torch.backends.mkldnn.flags(enabled=False)


def even(kind, batch_first, onednn):
    def make(t):
        module, leaves = layer(kind, t, batch_first=batch_first)

        def theirs(tensor):  # from sequence after sequence
            tensor = tensor.view(BATCH, STEPS, WIDTH)
            return tensor if batch_first else tensor.transpose(0, 1).contiguous()

        def layout(name, tensor):
            time_major = name in ('y', 'd_x') and not batch_first
            return tensor.transpose(0, 1) if time_major else tensor
        x, dy = leaf(theirs(t['x'])), theirs(t['dy'])

        def step():
            with engine(onednn):
                y, _ = module(x)
                y.backward(dy)
            return y
        return Peer({'x': x, **leaves}, step, layout=layout)
    return make


def packed(kind, onednn):
    def make(t):
        module, leaves = layer(kind, t)
        lengths = t['lengths'].long()

        def theirs(tensor):
            return rnn.pack_sequence(tensor.split(lengths.tolist()), enforce_sorted=True)

        def layout(name, tensor):
            if name not in ('y', 'd_x'):
                return tensor
            padded, _ = rnn.pad_packed_sequence(rnn.PackedSequence(tensor, batch_sizes))
            return torch.cat([padded[:n, i] for i, n in enumerate(lengths.tolist())])
        batch_sizes = theirs(t['x']).batch_sizes
        x, dy = leaf(theirs(t['x']).data), theirs(t['dy']).data

        def step():
            with engine(onednn):
                y, _ = module(rnn.PackedSequence(x, batch_sizes))
                y.data.backward(dy)
            return y.data
        return Peer({'x': x, **leaves}, step, layout=layout)
    return make


def case(kind, lengths, at_least):
    engines = (('oneDNN', True), ('native', False))
    if lengths is EVEN:
        peers = {f'{order}, {engine}': even(kind, order == 'batch first', onednn)
                 for order in ('time major', 'batch first') for engine, onednn in engines}
    else:
        peers = {f'PackedSequence, {engine}': packed(kind, onednn) for engine, onednn in engines}
    # Products with both weights, forwards and twice backwards; the first step has no h to multiply.
    rows, first = int(lengths.sum()), len(lengths)
    flops = 3 * 2 * (2 * rows - first) * GATES[kind] * WIDTH * WIDTH
    return Case(kind if lengths is EVEN else kind + '_packed', kind, inputs(kind, lengths), peers,
                at_least=at_least, flops=flops)


CASES = [case('lstm', EVEN, 1.2), case('gru', EVEN, 1.2), case('lstm', SPREAD, 1.5),
         case('gru', SPREAD, 1.5)]
