"""Look-up tables."""
import numpy as np
from torch.nn import functional as F

from . import Case, Peer, leaf, normal

ROWS, WIDTH, VOCAB = 4096, 512, 8000


def inputs(rng):
    return {'weight': normal(rng, VOCAB, WIDTH), 'dy': normal(rng, ROWS, WIDTH),
            'ids': rng.integers(0, VOCAB, ROWS, dtype=np.int32)}


def embedding_backward(t):
    weight, ids = leaf(t['weight']), t['ids'].long()
    y = None

    def prepare():
        nonlocal y
        y = F.embedding(ids, weight)

    def step():
        y.backward(t['dy'])
        return y
    return Peer({'weight': weight}, step, prepare)


# The gradient of the table is written once, that of the rows read once.
CASES = [Case('embedding_backward', 'embedding_backward', inputs, {'F.embedding': embedding_backward},
              at_least=2.0, bytes=4 * WIDTH * (VOCAB + ROWS))]
