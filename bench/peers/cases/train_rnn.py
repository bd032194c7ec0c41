"""A training step of Bahdanau's model with LSTM cells: forward, backward, AdamW. The peer does what does not depend on
the step outside the loop. Shuffled sentences it pads, and packs for the encoder; sentences that were sorted by length,
as an expert has them, need neither."""
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import rnn

from . import BF16, Case, Peer, normal

BATCH, VOCABULARY, WIDTH = 64, 8000, 512
SOURCE, TARGET = 50, 30  # the longest
RATE, DROPOUT = 1e-4, 0.1
CONTEXT, GATES, DEEP = 2 * WIDTH, 4 * WIDTH, 2 * WIDTH

# By our names.
SHAPES = {'encoder.embedding.weight': (VOCABULARY, WIDTH),
          **{f'encoder.layers.{name}_l0{direction}': shape for direction in ('', '_reverse')
             for name, shape in (('weight_ih', (GATES, WIDTH)), ('weight_hh', (GATES, WIDTH)),
                                 ('bias_ih', (GATES,)), ('bias_hh', (GATES,)))},
          'start.h.0.weight': (WIDTH, WIDTH), 'start.h.0.bias': (WIDTH,),
          'start.c.0.weight': (WIDTH, WIDTH), 'start.c.0.bias': (WIDTH,),
          'decoder.embedding.weight': (VOCABULARY, WIDTH),
          'decoder.layers.weight_ih_l0': (GATES, WIDTH + CONTEXT),
          'decoder.layers.weight_hh_l0': (GATES, WIDTH),
          'decoder.layers.bias_ih_l0': (GATES,), 'decoder.layers.bias_hh_l0': (GATES,),
          'decoder.attention.query': (WIDTH, WIDTH), 'decoder.attention.key': (WIDTH, CONTEXT),
          'decoder.attention.vector': (WIDTH,),
          'decoder.deep.weight': (DEEP, 2 * WIDTH + CONTEXT), 'decoder.deep.bias': (DEEP,),
          'decoder.output.weight': (VOCABULARY, WIDTH), 'decoder.output.bias': (VOCABULARY,)}
# Of sources and targets: a batch of shuffled sentences, long ones with long targets, sorted, as the peer wants it; and
# one of equal lengths.
SHUFFLED = (np.linspace(SOURCE, SOURCE // 5, BATCH).round().astype(np.int32),
            np.linspace(TARGET, TARGET // 5, BATCH).round().astype(np.int32))
EVEN = (np.full(BATCH, 30, np.int32), np.full(BATCH, 18, np.int32))


def inputs(sources, targets):
    def first(name):  # so that attention is far from even
        return 1.0 if 'embedding' in name or name.endswith('vector') else WIDTH ** -0.5

    def make(rng):
        arrays = {name: normal(rng, *shape, scale=first(name)) for name, shape in SHAPES.items()}

        def ids(lengths):
            return rng.integers(0, VOCABULARY, int(lengths.sum()), dtype=np.int32)
        return {**arrays, 'sources': sources, 'targets': targets, 'source': ids(sources),
                'target': ids(targets), 'labels': ids(targets), 'vocabulary': np.float32(VOCABULARY),
                'width': np.float32(WIDTH), 'rate': np.float32(RATE), 'dropout': np.float32(DROPOUT)}
    return make


class Model(nn.Module):
    def __init__(self, t):
        super().__init__()
        self.source_embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.target_embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.encoder = nn.LSTM(WIDTH, WIDTH, bidirectional=True)
        self.start_h, self.start_c = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.cell = nn.LSTMCell(WIDTH + CONTEXT, WIDTH)
        self.query = nn.Linear(WIDTH, WIDTH, bias=False)
        self.key = nn.Linear(CONTEXT, WIDTH, bias=False)
        self.vector = nn.Parameter(torch.empty(WIDTH))
        self.deep = nn.Linear(2 * WIDTH + CONTEXT, DEEP)
        self.output = nn.Linear(WIDTH, VOCABULARY)
        with torch.no_grad():
            for name, parameter in self.by_our_names().items():
                parameter.copy_(t[name])

    def by_our_names(self):
        encoder = {f'encoder.layers.{name}': p for name, p in self.encoder.named_parameters()}
        cell = {f'decoder.layers.{name}_l0': p for name, p in self.cell.named_parameters()}
        parts = {'encoder.embedding': self.source_embedding, 'decoder.embedding': self.target_embedding,
                 'start.h.0': self.start_h, 'start.c.0': self.start_c, 'decoder.deep': self.deep,
                 'decoder.output': self.output}
        return {**encoder, **cell, 'decoder.attention.vector': self.vector,
                'decoder.attention.query': self.query.weight, 'decoder.attention.key': self.key.weight,
                **{f'{part}.{name}': p for part, module in parts.items()
                   for name, p in module.named_parameters()}}

    def forward(self, source, lengths, target, dropout):
        x = F.dropout(self.source_embedding(source), dropout)  # [time, batch, width]
        pads = None
        if lengths is None:
            values, (h, c) = self.encoder(x)
        else:
            packed, (h, c) = self.encoder(rnn.pack_padded_sequence(x, lengths))
            values = rnn.pad_packed_sequence(packed)[0]
            pads = torch.arange(values.shape[0])[None] >= lengths[:, None]
        values = values.transpose(0, 1).contiguous()
        keys = self.key(values)  # [batch, time, width]
        h, c = torch.tanh(self.start_h(h[1])), torch.tanh(self.start_c(c[1]))
        y = F.dropout(self.target_embedding(target), dropout)
        states, contexts = [], []
        for row in y:
            scores = torch.tanh(keys + self.query(h)[:, None]) @ self.vector
            weights = torch.softmax(scores if pads is None else scores.masked_fill(pads, -torch.inf), -1)
            context = torch.bmm(weights[:, None], values)[:, 0]
            h, c = self.cell(torch.cat((row, context), -1), (h, c))
            states.append(h)
            contexts.append(context)
        return torch.cat((torch.stack(states), y, torch.stack(contexts)), -1)

    def logits(self, rows, dropout):
        return self.output(F.dropout(self.deep(rows).unflatten(-1, (-1, 2)).amax(-1), dropout))


def peer(real_rows_only=False, compiled=False, bf16=False):
    """The output layer over all rows, or over those that are not padding."""
    def make(t):
        def padded(name, lengths, pad=0):
            return rnn.pad_sequence(t[name].long().split(t[lengths].tolist()), padding_value=pad)
        source, target = padded('source', 'sources'), padded('target', 'targets')
        labels, lengths = padded('labels', 'targets', -100), t['sources'].long()
        real = labels != -100
        if real.all() and (lengths == lengths[0]).all():
            lengths = None
        model = Model(t)
        run = torch.compile(model) if compiled else model
        parameters = model.by_our_names()
        optimizer = torch.optim.AdamW(parameters.values(), lr=RATE, weight_decay=0.0, fused=True)

        def loss(dropout, forward=model):
            rows = forward(source, lengths, target, dropout)
            rows, wanted = (rows[real], labels[real]) if real_rows_only else (rows, labels)
            logits = model.logits(rows, dropout)
            return F.cross_entropy(logits.flatten(0, -2), wanted.flatten())

        def step():
            optimizer.zero_grad()
            with torch.autocast('cpu', torch.bfloat16, enabled=bf16):
                value = loss(DROPOUT, run)
            value.backward()
            optimizer.step()
        # Both sides drop at random: they are compared without, before the first step.
        first = loss(0.0)
        first.backward()
        results = {'loss': first.detach().reshape(1),
                   **{'d_' + name: p.grad.clone() for name, p in parameters.items()}}
        return Peer({}, step, changed=results)
    return make


# Products with all weights but the embeddings, forwards and twice backwards, over real rows; sums of
# keys and values are left out.
def flops(sources, targets):
    each = {name: rows * columns for name, (rows, columns, *_) in
            ((name, shape) for name, shape in SHAPES.items() if len(shape) == 2)}
    of_source = sum(n for name, n in each.items() if 'encoder.layers' in name or name.endswith('key'))
    of_target = sum(n for name, n in each.items() if name.startswith('decoder') and
                    'embedding' not in name and not name.endswith('key'))
    return 6 * (of_source * int(sources.sum()) + of_target * int(targets.sum()))


CASES = [Case('train_bahdanau_512', 'train_rnn', inputs(*SHUFFLED),
              {'padded': peer(), 'padded, output of real rows': peer(real_rows_only=True)}, at_least=3.0,
              flops=flops(*SHUFFLED)),
         Case('train_bahdanau_512_even', 'train_rnn', inputs(*EVEN),
              {'eager': peer(), 'compiled': peer(compiled=True)}, at_least=1.5,
              also={'bf16 autocast': peer(bf16=True)} if BF16 else {}, flops=flops(*EVEN))]
