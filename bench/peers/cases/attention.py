"""Attention: the fused op beside scaled_dot_product_attention, and additive attention beside its usual
formulation. Our rows hold all heads of a token; PyTorch gets its heads apart and contiguous, or as
strides of such rows, whichever it does faster."""
import numpy as np
import torch
import torch.nn.functional as F

from . import Case, Peer, both_ways, leaf, normal

LENGTHS_64 = np.linspace(8, 64, 32).round().astype(np.int32)


def inputs(batch, heads, length, width, kv_heads=None, queries=None, extra=None):
    kv_heads, queries = kv_heads or heads, queries or length

    def make(rng):
        q_rows, k_rows = batch * queries, batch * length
        arrays = {'q': normal(rng, q_rows, heads * width), 'k': normal(rng, k_rows, kv_heads * width),
                  'v': normal(rng, k_rows, kv_heads * width), 'dy': normal(rng, q_rows, heads * width),
                  'q_lengths': np.full(batch, queries, np.int32),
                  'k_lengths': np.full(batch, length, np.int32),
                  'heads': np.array([heads, kv_heads], np.int32)}
        return arrays | (extra(rng) if extra else {})
    return make


def apart(x, batch, heads):
    """[batch, heads, length, width], contiguous."""
    return strided(x, batch, heads).contiguous()


def strided(x, batch, heads):
    return x.view(batch, -1, heads, x.shape[1] // heads).transpose(1, 2)


def together(name, tensor):
    """A result [batch, heads, length, width] as rows."""
    return tensor.transpose(1, 2) if tensor.dim() == 4 and name != 'd_bias' else tensor


def peer(backward, leaves, dy, forward, **rest):
    """Both ways, or forward alone as inference does it."""
    if backward:
        return both_ways(leaves, dy, forward, **rest)
    return Peer({}, torch.inference_mode()(forward), **rest)


def sdpa(batch, backward, split, attend):
    """attend(q, k, v, t) of heads split as `split` does."""
    def make(t):
        heads, kv_heads = t['heads'].tolist()
        q, k, v = (leaf(split(t[name], batch, h)) for name, h in
                   (('q', heads), ('k', kv_heads), ('v', kv_heads)))
        dy = split(t['dy'], batch, heads)
        leaves = {'q': q, 'k': k, 'v': v}
        if 'bias' in t:
            leaves['bias'] = t['bias'] = leaf(t['bias'])

        return peer(backward, leaves, dy, lambda: attend(q, k, v, t), layout=together)
    return make


def plain(q, k, v, t, **options):
    return F.scaled_dot_product_attention(q, k, v, **options)


def causal(q, k, v, t):
    return plain(q, k, v, t, is_causal=True)


def dropped(q, k, v, t):
    return plain(q, k, v, t, is_causal=True, dropout_p=0.1)


def biased(q, k, v, t):
    return plain(q, k, v, t, attn_mask=t['bias'][None])


def biased_by_hand(q, k, v, t):
    scores = torch.matmul(q * q.shape[-1] ** -0.5, k.transpose(-1, -2))
    return torch.matmul((scores + t['bias']).softmax(-1), v)


def grouped(q, k, v, t):
    return plain(q, k, v, t, enable_gqa=True)


def stacked(q, k, v, t):
    """The heads of a group as queries of one head."""
    batch, heads, _, width = q.shape
    y = plain(q.reshape(batch, k.shape[1], heads // k.shape[1], width), k, v, t)
    return y.reshape(batch, heads, 1, width)


def packed(backward):
    """Padded at the end, where causal queries do not look."""
    def make(t):
        lengths, (heads, _) = t['q_lengths'].tolist(), t['heads'].tolist()

        def padded(x):
            rows = torch.nn.utils.rnn.pad_sequence(x.split(lengths), batch_first=True)
            return rows.view(len(lengths), rows.shape[1], heads, -1).transpose(1, 2).contiguous()
        q, k, v = (leaf(padded(t[name])) for name in 'qkv')
        dy = padded(t['dy'])

        def layout(name, tensor):
            rows = tensor.transpose(1, 2).flatten(2)
            return torch.cat([rows[i, :n] for i, n in enumerate(lengths)])

        return peer(backward, {'q': q, 'k': k, 'v': v}, dy, lambda: causal(q, k, v, t), layout=layout)
    return make


def similar(inputs, ours, peer):
    """For dropout, whose masks differ: results of the same size and spread."""
    for name, expected in peer.items():
        if not abs(ours[name].std() / expected.std() - 1) < 0.05:
            raise ValueError(f'{name} has deviation {ours[name].std()}, the peer {expected.std()}')


def cases(name, batch, heads, length, width, formulations, bars, pairs, **options):
    extra, check = options.pop('extra', None), options.pop('check', None)
    kind = options.pop('kind', 'attention')
    reads, percent = options.pop('reads', 0), options.pop('percent', 0)
    made = inputs(batch, heads, length, width, extra=extra, **options)
    rows = []
    for backward, bar in zip((False, True), bars):
        peers = {f'{attend.__name__}, {split.__name__}': sdpa(batch, backward, split, attend)
                 for attend in formulations for split in (apart, strided)}
        flops = (14 if backward else 4) * pairs * heads * width
        case = Case(f'{name}_{"fwdbwd" if backward else "fwd"}', f'{kind}_{"both" if backward else "forward"}',
                    made, peers, at_least=bar, flops=0 if reads else flops, reads=reads, percent_at_least=percent)
        if check:
            case.check = check
        rows.append(case)
    return rows


def flags(**values):
    return lambda rng: {name: np.array([value], np.float32) for name, value in values.items()}


def half(batch, length):
    return batch * length * (length + 1) / 2


def with_bias(rng):
    return {'bias': normal(rng, 8, 256, 256)}


def packed_inputs(rng):
    arrays = inputs(1, 8, int(LENGTHS_64.sum()), 64, extra=flags(causal=1))(rng)
    return arrays | {'q_lengths': LENGTHS_64, 'k_lengths': LENGTHS_64}


def packed_cases():
    pairs = sum(n * (n + 1) / 2 for n in LENGTHS_64.tolist())
    return [Case(f'packed_64_{name}', f'attention_{kind}', packed_inputs,
                 {'padded, causal': packed(kind == 'both')}, at_least=2,
                 flops=(14 if kind == 'both' else 4) * pairs * 8 * 64)
            for name, kind in (('fwd', 'forward'), ('fwdbwd', 'both'))]


def additive_inputs(queries):
    def make(rng):
        return {'q': normal(rng, 64 * queries, 512), 'k': normal(rng, 64 * 50, 512),
                'v': normal(rng, 64 * 50, 512), 'vector': normal(rng, 512, scale=512 ** -0.5),
                'dy': normal(rng, 64 * queries, 512), 'heads': np.array([1, 1], np.int32),
                'q_lengths': np.full(64, queries, np.int32), 'k_lengths': np.full(64, 50, np.int32)}
    return make


def additive(backward):
    def make(t):
        q, k, v = (leaf(t[name].view(64, -1, 512)) for name in 'qkv')
        vector, dy = leaf(t['vector']), t['dy'].view(64, -1, 512)

        def forward():
            scores = torch.tanh(q.unsqueeze(2) + k.unsqueeze(1)) @ vector
            return torch.bmm(scores.softmax(-1), v)

        return peer(backward, {'q': q, 'k': k, 'v': v, 'vector': vector}, dy, forward)
    return make


def additive_cases(name, queries):
    # Of the pairs' width: an addition, a hyperbolic tangent and a product; bytes are the fair limit.
    return [Case(f'{name}_{suffix}', f'additive_{kind}', additive_inputs(queries),
                 {'tanh(q + k) @ v': additive(kind == 'both')}, at_least=2,
                 flops=(2 if kind == 'forward' else 6) * 64 * queries * 50 * 512 * 2)
            for suffix, kind in (('fwd', 'forward'), ('fwdbwd', 'both'))]


CASES = [
    *cases('causal_512', 8, 8, 512, 64, [causal], (1.6, 1.6), half(8, 512), extra=flags(causal=1)),
    *cases('dense_512', 8, 8, 512, 64, [plain], (1.15, 1.2), 8 * 512 * 512),
    *cases('causal_64', 32, 8, 64, 64, [causal], (2, 2), half(32, 64), extra=flags(causal=1)),
    *packed_cases(),
    *cases('causal_4096', 1, 8, 4096, 64, [causal], (1.2, 1.3), half(1, 4096), extra=flags(causal=1)),
    *cases('dense_4096', 1, 8, 4096, 64, [plain], (1, 1), 4096 * 4096),
    *cases('dropout_512', 8, 8, 512, 64, [dropped], (3, 3), half(8, 512),
           extra=flags(causal=1, dropout=0.1), check=similar),
    *cases('bias_256', 8, 8, 256, 64, [biased], (2, 2), 8 * 256 * 256, extra=with_bias),
    *cases('bias_256_by_hand', 8, 8, 256, 64, [biased_by_hand], (1, 1), 8 * 256 * 256,
           extra=with_bias),
    cases('decode_2048', 32, 8, 2048, 64, [grouped, stacked], (2.5, 2.5), 32 * 2048,
          kv_heads=2, queries=1, reads=2 * 4 * 32 * 2048 * 2 * 64, percent=60)[0],
    *additive_cases('additive_step', 1),
    *additive_cases('additive_30', 30),
]
