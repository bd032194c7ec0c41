"""A training step of the Transformer: forward, backward, AdamW. The peer is made of PyTorch's own layers. Shuffled
sentences it must pad; sentences that were sorted by length, as an expert has them, it need not."""
import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import rnn

from . import BF16, Case, Peer, normal

BATCH, VOCABULARY = 64, 8000
RATE, DROPOUT = 1e-4, 0.1
# Of sources, and of their targets: a batch of shuffled sentences, and one of sorted ones, as many tokens in all.
SHUFFLED = np.linspace(40, 10, BATCH).round().astype(np.int32)
EVEN = np.full(BATCH, 25, np.int32)


def shapes(width, feed_forward, layers):
    """By our names."""
    def norm(name):
        return {f'{name}.weight': (width,), f'{name}.bias': (width,)}

    def linear(name, out, size):
        return {f'{name}.weight': (out, size), f'{name}.bias': (out,)}

    def attention(name):
        return {key: shape for part in ('query', 'key', 'value', 'output')
                for key, shape in linear(f'{name}.{part}', width, width).items()}
    found = {'target_embedding.weight': (VOCABULARY, width), 'source_embedding.weight': (VOCABULARY, width)}
    for side, parts in (('encoder', ('self',)), ('decoder', ('self', 'cross'))):
        for i in range(layers):
            for part in parts:
                found |= norm(f'{side}.{i}.{part}_norm') | attention(f'{side}.{i}.{part}')
            found |= norm(f'{side}.{i}.feed_forward_norm')
            found |= linear(f'{side}.{i}.feed_forward.in', feed_forward, width)
            found |= linear(f'{side}.{i}.feed_forward.out', width, feed_forward)
        found |= norm(f'{side}_norm')
    return found


def inputs(width, heads, feed_forward, layers, lengths):
    def make(rng):
        def first(name, shape):
            if name.endswith('norm.weight'):
                return 1 + normal(rng, *shape, scale=0.1)
            return normal(rng, *shape, scale=width ** -0.5)

        def ids():
            return rng.integers(0, VOCABULARY, int(lengths.sum()), dtype=np.int32)
        numbers = {'vocabulary': VOCABULARY, 'width': width, 'heads': heads, 'layers': layers,
                   'feed_forward': feed_forward, 'rate': RATE, 'dropout': DROPOUT}
        return {**{name: first(name, shape) for name, shape in shapes(width, feed_forward, layers).items()},
                'sources': lengths, 'targets': lengths, 'source': ids(), 'target': ids(), 'labels': ids(), **{name: np.float32(value) for name, value in numbers.items()}}
    return make


def sinusoids(length, width):
    place = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.stack((place.sin(), place.cos()), -1).flatten(1)


class Model(nn.Module):
    def __init__(self, t):
        super().__init__()
        self.width, heads, feed_forward, layers = (int(t[name]) for name in
                                                   ('width', 'heads', 'feed_forward', 'layers'))
        options = {'dropout': DROPOUT, 'batch_first': True, 'norm_first': True}
        self.source_embedding = nn.Embedding(VOCABULARY, self.width)
        self.target_embedding = nn.Embedding(VOCABULARY, self.width)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(self.width, heads, feed_forward, **options), layers,
            nn.LayerNorm(self.width), enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(self.width, heads, feed_forward, **options), layers,
            nn.LayerNorm(self.width))
        self.register_buffer('positions', sinusoids(64, self.width))
        with torch.no_grad():
            for name, (parameter, rows) in self.by_our_names().items():
                (parameter if rows is None else parameter[rows]).copy_(t[name])

    def by_our_names(self):
        """Ours to theirs, and which rows of it: PyTorch keeps queries, keys and values in one matrix."""
        found = {'target_embedding.weight': (self.target_embedding.weight, None),
                 'source_embedding.weight': (self.source_embedding.weight, None)}

        def add(name, module):
            found.update({f'{name}.{part}': (p, None) for part, p in module.named_parameters()})

        def add_attention(name, module):
            for i, part in enumerate(('query', 'key', 'value')):
                rows = slice(i * self.width, (i + 1) * self.width)
                found[f'{name}.{part}.weight'] = (module.in_proj_weight, rows)
                found[f'{name}.{part}.bias'] = (module.in_proj_bias, rows)
            add(f'{name}.output', module.out_proj)
        for side, stack in (('encoder', self.encoder), ('decoder', self.decoder)):
            for i, layer in enumerate(stack.layers):
                name = f'{side}.{i}'
                add_attention(f'{name}.self', layer.self_attn)
                add(f'{name}.self_norm', layer.norm1)
                if side == 'decoder':
                    add_attention(f'{name}.cross', layer.multihead_attn)
                    add(f'{name}.cross_norm', layer.norm2)
                add(f'{name}.feed_forward_norm', layer.norm3 if side == 'decoder' else layer.norm2)
                add(f'{name}.feed_forward.in', layer.linear1)
                add(f'{name}.feed_forward.out', layer.linear2)
            add(f'{side}_norm', stack.norm)
        return found

    def embed(self, table, ids):
        x = table(ids) * math.sqrt(self.width) + self.positions[:ids.shape[1]]
        return F.dropout(x, DROPOUT, self.training)

    def forward(self, source, source_pads, target, target_pads, causal):
        memory = self.encoder(self.embed(self.source_embedding, source), src_key_padding_mask=source_pads)
        return self.decoder(self.embed(self.target_embedding, target), memory, tgt_mask=causal,
                            tgt_is_causal=True, tgt_key_padding_mask=target_pads,
                            memory_key_padding_mask=source_pads)

    def logits(self, rows):
        return F.linear(rows, self.target_embedding.weight)


def peer(real_rows_only=False, compiled=False, bf16=False):
    """The output layer over all rows, or over those that are not padding. Without padding there are no masks of it."""
    def make(t):
        def padded(name, lengths, pad=0):
            return rnn.pad_sequence(t[name].long().split(t[lengths].tolist()), batch_first=True,
                                    padding_value=pad)

        def pads(lengths):
            found = torch.arange(int(t[lengths].max()))[None] >= t[lengths][:, None]
            return found if found.any() else None
        source, target, labels = (padded('source', 'sources'), padded('target', 'targets'),
                                  padded('labels', 'targets', -100))
        source_pads, target_pads = pads('sources'), pads('targets')
        causal = torch.triu(torch.ones(target.shape[1], target.shape[1], dtype=torch.bool), 1)
        real = labels != -100
        model = Model(t)
        optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0, fused=True)

        run = torch.compile(model) if compiled else model

        def loss(forward=model):
            rows = forward(source, source_pads, target, target_pads, causal)
            rows, wanted = (rows[real], labels[real]) if real_rows_only else (rows, labels)
            return F.cross_entropy(model.logits(rows).flatten(0, -2), wanted.flatten())

        def step():
            optimizer.zero_grad()
            with torch.autocast('cpu', torch.bfloat16, enabled=bf16):
                value = loss(run)
            value.backward()
            optimizer.step()
        # Both sides drop at random: they are compared without, before the first step.
        for module in model.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        model.training = False
        first = loss()
        first.backward()
        results = {'loss': first.detach().reshape(1)}
        for name, (parameter, rows) in model.by_our_names().items():
            results['d_' + name] = (parameter.grad if rows is None else parameter.grad[rows]).clone()
        for module in model.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = DROPOUT
            if isinstance(module, nn.Dropout):
                module.p = DROPOUT
        model.train()
        return Peer({}, step, changed=results)
    return make


def near(inputs, ours, peer):
    """By the norm of each result: a ReLU whose input rounds to the other side of 0 changes single values
    by more than rounding does. With six layers either side's gradients are up to 1e-3 of their norm away
    from the same model in double. The gradient of a key's bias is nothing but rounding: softmax does not
    see what all keys share."""
    if ours.keys() != peer.keys():
        raise ValueError(f'results are {sorted(ours)} but the peer has {sorted(peer)}')
    for name, expected in peer.items():
        error, norm = np.linalg.norm(ours[name].ravel() - expected.ravel()), np.linalg.norm(expected)
        if not error < 3e-3 * norm + 1e-7 * expected.size ** 0.5:
            raise ValueError(f'{name} differs by {error:.3g} where its norm is {norm:.3g}')


def flops(width, feed_forward, layers, rows):
    """Products with weights, forwards and twice backwards, over real rows, and with keys and values."""
    source = target = int(rows.sum())
    each = 4 * width * width + 2 * width * feed_forward
    weights = layers * (each * source + (each + 2 * width * width) * target + 2 * width * width * source)
    weights += VOCABULARY * width * target
    pairs = 2.5 * sum((rows.astype(float) ** 2).tolist())  # encoder, causal decoder, cross
    return 6 * weights + layers * 14 * pairs * width


def case(name, width, heads, feed_forward, layers, ratio, percent, even=False):
    lengths = EVEN if even else SHUFFLED
    peers = ({'eager': peer(), 'compiled': peer(compiled=True)} if even else
             {'padded': peer(), 'padded, output of real rows': peer(real_rows_only=True)})
    return Case(name, 'train_transformer', inputs(width, heads, feed_forward, layers, lengths), peers,
                at_least=ratio, also={'bf16 autocast': peer(bf16=True)} if even and BF16 else {},
                flops=flops(width, feed_forward, layers, lengths), percent_at_least=percent, check=near)


CASES = [case('train_transformer_256', 256, 4, 1024, 3, 2.0, 0),
         case('train_transformer_512', 512, 8, 2048, 6, 1.5, 70),
         case('train_transformer_256_even', 256, 4, 1024, 3, 1.5, 0, even=True),
         case('train_transformer_512_even', 512, 8, 2048, 6, 1.5, 70, even=True)]
