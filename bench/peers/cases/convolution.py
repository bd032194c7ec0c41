"""Convolutions."""
import numpy as np
import torch
from torch.nn import functional as F

from . import Case, both_ways, leaf, normal

SEQUENCES, LENGTH, CHANNELS, KERNEL, DILATION = 64, 256, 128, 3, 2
LEFT = DILATION * (KERNEL - 1)


def inputs(rng):
    rows = SEQUENCES * LENGTH
    return {'x': normal(rng, rows, CHANNELS), 'dy': normal(rng, rows, CHANNELS),
            'weight': normal(rng, CHANNELS, CHANNELS, KERNEL, scale=(CHANNELS * KERNEL) ** -0.5),
            'bias': normal(rng, CHANNELS), 'dilation': np.float32(DILATION),
            'lengths': np.full(SEQUENCES, LENGTH, np.int32)}


def channels_second(convolve):
    """Over [sequences, channels, length], the layout of nn.Conv1d."""
    def make(t):
        def theirs(tensor):
            return tensor.view(SEQUENCES, LENGTH, CHANNELS).transpose(1, 2).contiguous()

        def layout(name, tensor):
            return tensor.transpose(1, 2) if name in ('y', 'd_x') else tensor
        leaves = {'x': leaf(theirs(t['x'])), 'weight': leaf(t['weight']), 'bias': leaf(t['bias'])}
        return both_ways(leaves, theirs(t['dy']), lambda: convolve(*leaves.values()), layout=layout)
    return make


def pad_left(x, weight, bias):
    return F.conv1d(F.pad(x, (LEFT, 0)), weight, bias, dilation=DILATION)


def pad_both_and_cut(x, weight, bias):
    return F.conv1d(x, weight, bias, padding=LEFT, dilation=DILATION)[..., :LENGTH]


def channels_last(t):
    """As an image one pixel high with the channels innermost, which oneDNN may like better."""
    def theirs(tensor):
        image = tensor.view(SEQUENCES, 1, LENGTH, CHANNELS).permute(0, 3, 1, 2)
        return image.clone(memory_format=torch.channels_last)

    def layout(name, tensor):
        return tensor.permute(0, 2, 3, 1) if name in ('y', 'd_x') else tensor
    weight = t['weight'].unsqueeze(2).clone(memory_format=torch.channels_last)
    leaves = {'x': theirs(t['x']).requires_grad_(), 'weight': weight.requires_grad_(),
              'bias': leaf(t['bias'])}

    def forward():
        return F.conv2d(F.pad(leaves['x'], (LEFT, 0)), leaves['weight'], leaves['bias'],
                        dilation=(1, DILATION))
    return both_ways(leaves, theirs(t['dy']), forward, layout=layout)


def windows(t):
    """Three shifted copies side by side and one product."""
    leaves = {'x': leaf(t['x'].view(SEQUENCES, LENGTH, CHANNELS)), 'weight': leaf(t['weight']),
              'bias': leaf(t['bias'])}

    def forward():
        x = F.pad(leaves['x'], (0, 0, LEFT, 0))
        taps = [x[:, k * DILATION:k * DILATION + LENGTH] for k in range(KERNEL)]
        weight = leaves['weight'].transpose(1, 2).reshape(CHANNELS, -1)
        return F.linear(torch.cat(taps, dim=-1), weight, leaves['bias'])
    return both_ways(leaves, t['dy'].view(SEQUENCES, LENGTH, CHANNELS), forward)


CASES = [Case('conv1d_causal', 'conv1d_causal', inputs,
              {'F.pad + F.conv1d': channels_second(pad_left),
               'F.conv1d, cut': channels_second(pad_both_and_cut),
               'F.conv2d, channels last': channels_last, 'windows + F.linear': windows},
              at_least=1.0,
              flops=3 * 2 * SEQUENCES * LENGTH * KERNEL * CHANNELS * CHANNELS)]
