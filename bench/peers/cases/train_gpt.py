"""A training step of a decoder-only Transformer: forward, backward, AdamW. The peer is written as an expert writes
it: one projection for queries, keys and values, PyTorch's own causal attention, a fused optimiser, no padding."""
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from . import BF16, Case, Peer, normal
from .train_transformer import near

RATE = 1e-3


def shapes(vocabulary, width, layers, context):
    """By our names."""
    found = {'embedding.weight': (vocabulary, width), 'positions.weight': (context, width)}
    for i in range(layers):
        found |= {f'layers.{i}.self_norm.weight': (width,), f'layers.{i}.feed_forward_norm.weight': (width,)}
        found |= {f'layers.{i}.self.{part}.weight': (width, width) for part in ('query', 'key', 'value', 'output')}
        found |= {f'layers.{i}.feed_forward.in.weight': (4 * width, width),
                  f'layers.{i}.feed_forward.out.weight': (width, 4 * width)}
    return found | {'norm.weight': (width,)}


def inputs(vocabulary, width, heads, layers, context, batch, dropout):
    def make(rng):
        def first(name, shape):
            return 1 + normal(rng, *shape, scale=0.1) if 'norm' in name else normal(rng, *shape, scale=0.05)
        numbers = {'vocabulary': vocabulary, 'width': width, 'heads': heads, 'layers': layers, 'context': context,
                   'rate': RATE, 'dropout': dropout}
        ids = rng.integers(0, vocabulary, (batch, context + 1), dtype=np.int32)
        return {**{name: first(name, shape) for name, shape in shapes(vocabulary, width, layers, context).items()},
                'targets': np.full(batch, context, np.int32), 'target': ids[:, :-1].flatten(),
                'labels': ids[:, 1:].flatten(), **{name: np.float32(value) for name, value in numbers.items()}}
    return make


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.norm1, self.norm2 = nn.LayerNorm(width, bias=False), nn.LayerNorm(width, bias=False)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.dropout if self.training else 0.0)
        y = self.out(y.transpose(1, 2).reshape(batch, length, width))
        x = x + F.dropout(y, self.dropout, self.training)
        return x + F.dropout(self.down(F.gelu(self.up(self.norm2(x)))), self.dropout, self.training)


class Model(nn.Module):
    def __init__(self, t):
        super().__init__()
        vocabulary, width, heads, layers, context = (int(t[name]) for name in
                                                     ('vocabulary', 'width', 'heads', 'layers', 'context'))
        self.dropout = float(t['dropout'])
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads, self.dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width, bias=False)
        with torch.no_grad():
            for name, (parameter, rows) in self.by_our_names().items():
                (parameter if rows is None else parameter[rows]).copy_(t[name])

    def by_our_names(self):
        """Ours to theirs, and which rows of it."""
        found = {'embedding.weight': (self.tokens.weight, None), 'positions.weight': (self.places.weight, None)}
        width = self.norm.weight.shape[0]
        for i, block in enumerate(self.blocks):
            name = f'layers.{i}'
            for j, part in enumerate(('query', 'key', 'value')):
                found[f'{name}.self.{part}.weight'] = (block.qkv.weight, slice(j * width, (j + 1) * width))
            found |= {f'{name}.self.output.weight': (block.out.weight, None),
                      f'{name}.self_norm.weight': (block.norm1.weight, None),
                      f'{name}.feed_forward_norm.weight': (block.norm2.weight, None),
                      f'{name}.feed_forward.in.weight': (block.up.weight, None),
                      f'{name}.feed_forward.out.weight': (block.down.weight, None)}
        return found | {'norm.weight': (self.norm.weight, None)}

    def forward(self, ids, labels):
        x = self.tokens(ids) + self.places.weight
        x = F.dropout(x, self.dropout, self.training)
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(F.linear(self.norm(x), self.tokens.weight).flatten(0, 1), labels.flatten())


def peer(compiled=False, bf16=False):
    def make(t):
        batch = t['targets'].numel()
        ids, labels = t['target'].long().view(batch, -1), t['labels'].long().view(batch, -1)
        model = Model(t)
        optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0, fused=True)
        model.eval()  # compared without dropout, before the first step
        first = model(ids, labels)
        first.backward()
        results = {'loss': first.detach().reshape(1)}
        for name, (parameter, rows) in model.by_our_names().items():
            results['d_' + name] = (parameter.grad if rows is None else parameter.grad[rows]).clone()
        model.train()
        forward = torch.compile(model) if compiled else model

        def step():
            optimizer.zero_grad()
            with torch.autocast('cpu', torch.bfloat16, enabled=bf16):
                loss = forward(ids, labels)
            loss.backward()
            optimizer.step()
        return Peer({}, step, changed=results)
    return make


def flops(vocabulary, width, layers, context, batch):
    """Products with weights, forwards and twice backwards, and of pairs that see each other, which backwards computes
    once more."""
    weights = (layers * 12 * width * width + vocabulary * width) * batch * context
    return 6 * weights + layers * 14 * batch * context * context / 2 * width


def case(name, vocabulary, width, heads, layers, context, batch, dropout, ratio, percent):
    return Case(name, 'train_gpt', inputs(vocabulary, width, heads, layers, context, batch, dropout),
                {'eager': peer(), 'compiled': peer(compiled=True)}, at_least=ratio,
                also={'bf16 autocast': peer(bf16=True)} if BF16 else {},
                flops=flops(vocabulary, width, layers, context, batch), percent_at_least=percent, check=near)


CASES = [case('train_gpt_nano', 65, 128, 4, 4, 64, 12, 0.0, 1.6, 68),
         case('train_gpt_256', 8000, 256, 8, 6, 256, 16, 0.1, 1.5, 70)]
