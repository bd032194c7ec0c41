"""An encoder of BERT's shape: a training step on masked tokens (forward, backward, AdamW), and reading alone. The peer is
written as an expert writes it: one projection for queries, keys and values, PyTorch's own attention, a fused optimiser, the
output layer over masked rows only, batches of one length, so that there is no padding."""
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from . import BF16, Case, Peer, normal
from .train_transformer import near

RATE = 1e-3


def shapes(vocabulary, width, layers, positions):
    """By our names."""
    def norm(name):
        return {f'{name}.weight': (width,), f'{name}.bias': (width,)}

    def linear(name, rows, columns):
        return {f'{name}.weight': (rows, columns), f'{name}.bias': (rows,)}
    found = {'encoder.embedding.table.weight': (vocabulary, width), 'encoder.embedding.positions.weight': (positions, width)}
    found |= norm('encoder.embedding_norm')
    for i in range(layers):
        name = f'encoder.layers.{i}'
        found |= norm(f'{name}.self_norm') | norm(f'{name}.feed_forward_norm')
        for part in ('query', 'key', 'value', 'output'):
            found |= linear(f'{name}.self.{part}', width, width)
        found |= linear(f'{name}.feed_forward.in', 4 * width, width) | linear(f'{name}.feed_forward.out', width, 4 * width)
    return found | linear('transform', width, width) | norm('norm') | {'bias': (vocabulary,)}


def inputs(vocabulary, width, heads, layers, texts, length, masked, dropout):
    def make(rng):
        def first(name, shape):
            return 1 + normal(rng, *shape, scale=0.1) if 'norm.weight' in name else normal(rng, *shape, scale=0.05)
        numbers = {'vocabulary': vocabulary, 'width': width, 'heads': heads, 'layers': layers, 'positions': length,
                   'rate': RATE, 'dropout': dropout}
        ids = rng.integers(0, vocabulary, (texts, length), dtype=np.int32)
        rows = np.sort(rng.permuted(np.tile(np.arange(length), (texts, 1)), axis=1)[:, :masked], axis=1)
        rows = (rows + length * np.arange(texts)[:, None]).astype(np.int32).flatten()
        labels = rng.integers(0, vocabulary, rows.size, dtype=np.int32)
        return {**{name: first(name, shape) for name, shape in shapes(vocabulary, width, layers, length).items()},
                'targets': np.full(texts, length, np.int32), 'target': ids.flatten(), 'rows': rows, 'labels': labels,
                **{name: np.float32(value) for name, value in numbers.items()}}
    return make


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0)
        y = self.out(y.transpose(1, 2).reshape(batch, length, width))
        x = self.norm1(x + F.dropout(y, self.dropout, self.training))
        return self.norm2(x + F.dropout(self.down(F.gelu(self.up(x))), self.dropout, self.training))


class Model(nn.Module):
    def __init__(self, t):
        super().__init__()
        vocabulary, width, heads, layers, positions = (int(t[name]) for name in
                                                       ('vocabulary', 'width', 'heads', 'layers', 'positions'))
        self.dropout = float(t['dropout'])
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.blocks = nn.ModuleList(Block(width, heads, self.dropout) for _ in range(layers))
        self.transform, self.last_norm = nn.Linear(width, width), nn.LayerNorm(width)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        with torch.no_grad():
            for name, (parameter, rows) in self.by_our_names().items():
                (parameter if rows is None else parameter[rows]).copy_(t[name])

    def by_our_names(self):
        """Ours to theirs, and which rows of it."""
        found = {'encoder.embedding.table.weight': (self.tokens.weight, None),
                 'encoder.embedding.positions.weight': (self.places.weight, None), 'bias': (self.bias, None)}
        width = self.norm.weight.shape[0]
        layers = {'encoder.embedding_norm': self.norm, 'transform': self.transform, 'norm': self.last_norm}
        for i, block in enumerate(self.blocks):
            name = f'encoder.layers.{i}'
            layers |= {f'{name}.self.output': block.out, f'{name}.self_norm': block.norm1,
                       f'{name}.feed_forward_norm': block.norm2, f'{name}.feed_forward.in': block.up,
                       f'{name}.feed_forward.out': block.down}
            for j, part in enumerate(('query', 'key', 'value')):
                rows = slice(j * width, (j + 1) * width)
                found |= {f'{name}.self.{part}.weight': (block.qkv.weight, rows),
                          f'{name}.self.{part}.bias': (block.qkv.bias, rows)}
        for name, layer in layers.items():
            found |= {f'{name}.weight': (layer.weight, None), f'{name}.bias': (layer.bias, None)}
        return found

    def read(self, ids):
        x = self.norm(self.tokens(ids) + self.places.weight)
        x = F.dropout(x, self.dropout, self.training)
        for block in self.blocks:
            x = block(x)
        return x

    def forward(self, ids, rows, labels):
        x = self.read(ids).flatten(0, 1)[rows]
        x = self.last_norm(F.gelu(self.transform(x)))
        return F.cross_entropy(F.linear(x, self.tokens.weight, self.bias), labels)


def train_peer(compiled=False, bf16=False):
    def make(t):
        ids = t['target'].long().view(t['targets'].numel(), -1)
        rows, labels = t['rows'].long(), t['labels'].long()
        model = Model(t)
        optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0, fused=True)
        model.eval()  # compared without dropout, before the first step
        first = model(ids, rows, labels)
        first.backward()
        results = {'loss': first.detach().reshape(1)}
        for name, (parameter, part) in model.by_our_names().items():
            results['d_' + name] = (parameter.grad if part is None else parameter.grad[part]).clone()
        model.train()
        forward = torch.compile(model) if compiled else model

        def step():
            optimizer.zero_grad()
            with torch.autocast('cpu', torch.bfloat16, enabled=bf16):
                loss = forward(ids, rows, labels)
            loss.backward()
            optimizer.step()
        return Peer({}, step, changed=results)
    return make


def read_peer(compiled=False):
    def make(t):
        ids = t['target'].long().view(t['targets'].numel(), -1)
        model = Model(t).eval()
        read = torch.compile(model.read) if compiled else model.read

        def step():
            with torch.inference_mode():
                return read(ids).flatten(0, 1)
        return Peer({}, step)
    return make


def flops(width, layers, texts, length):
    """Of reading: products with weights, and of pairs."""
    return texts * length * layers * (24 * width * width + 4 * length * width)


def head_flops(vocabulary, width, rows):
    return 2 * rows * (vocabulary * width + width * width)


CASES = [
    Case('train_bert_256', 'train_bert', inputs(8000, 256, 8, 6, 64, 35, 5, 0.1),
         {'eager': train_peer(), 'compiled': train_peer(compiled=True)}, at_least=1.5,
         also={'bf16 autocast': train_peer(bf16=True)} if BF16 else {},
         flops=3 * (flops(256, 6, 64, 35) + head_flops(8000, 256, 64 * 5)), check=near),
    Case('bert_base_forward', 'bert_forward', inputs(30522, 768, 12, 12, 8, 128, 1, 0.0),
         {'eager': read_peer(), 'compiled': read_peer(compiled=True)}, at_least=1.2, flops=flops(768, 12, 8, 128),
         percent_at_least=70),
]
