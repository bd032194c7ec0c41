"""GPT-2's smallest shape with random weights: a prompt at once, and token by token after it. The peer has a static cache,
so that it can be compiled; compiled and frozen, its weights are packed too."""
import numpy as np
import torch
from torch.nn import functional as F

from . import Case, Peer, normal

VOCABULARY, WIDTH, HEADS, LAYERS, CONTEXT = 50257, 768, 12, 12, 1024
TOKENS = 64


def shapes():
    """By our names."""
    found = {'embedding.weight': (VOCABULARY, WIDTH), 'positions.weight': (CONTEXT, WIDTH)}
    for i in range(LAYERS):
        name = f'layers.{i}'
        for norm in ('self_norm', 'feed_forward_norm'):
            found |= {f'{name}.{norm}.weight': (WIDTH,), f'{name}.{norm}.bias': (WIDTH,)}
        sizes = {f'self.{part}': (WIDTH, WIDTH) for part in ('query', 'key', 'value', 'output')}
        sizes |= {'feed_forward.in': (4 * WIDTH, WIDTH), 'feed_forward.out': (WIDTH, 4 * WIDTH)}
        for part, shape in sizes.items():
            found |= {f'{name}.{part}.weight': shape, f'{name}.{part}.bias': shape[:1]}
    return found | {'norm.weight': (WIDTH,), 'norm.bias': (WIDTH,)}


def inputs(prompt):
    def make(rng):
        def first(name, shape):
            return 1 + normal(rng, *shape, scale=0.1) if name.endswith('norm.weight') else normal(rng, *shape, scale=0.05)
        numbers = {'vocabulary': VOCABULARY, 'width': WIDTH, 'heads': HEADS, 'layers': LAYERS, 'context': CONTEXT,
                   'tokens': TOKENS, 'first': 17}
        return {**{name: first(name, shape) for name, shape in shapes().items()},
                'prompt': rng.integers(0, VOCABULARY, prompt, dtype=np.int32),
                **{name: np.float32(value) for name, value in numbers.items()}}
    return make


class Model(torch.nn.Module):
    def __init__(self, t, room):
        super().__init__()
        def parameter(tensor):
            return torch.nn.Parameter(tensor, requires_grad=False)
        self.tokens, self.places = parameter(t['embedding.weight']), parameter(t['positions.weight'])
        self.layers = torch.nn.ModuleList()
        for i in range(LAYERS):
            layer = torch.nn.Module()
            def get(name):
                return t[f'layers.{i}.{name}']
            for kind in ('weight', 'bias'):
                setattr(layer, 'qkv_' + kind,
                        parameter(torch.cat([get(f'self.{part}.{kind}') for part in ('query', 'key', 'value')])))
                for name, ours in (('out', 'self.output'), ('up', 'feed_forward.in'), ('down', 'feed_forward.out'),
                                   ('norm1', 'self_norm'), ('norm2', 'feed_forward_norm')):
                    setattr(layer, f'{name}_{kind}', parameter(get(f'{ours}.{kind}')))
            layer.register_buffer('keys', torch.zeros(1, HEADS, room, WIDTH // HEADS))
            layer.register_buffer('values', torch.zeros(1, HEADS, room, WIDTH // HEADS))
            self.layers.append(layer)
        self.norm_weight, self.norm_bias = parameter(t['norm.weight']), parameter(t['norm.bias'])
        self.register_buffer('range', torch.arange(room))

    def forward(self, ids, at):
        """The logits after the last of `ids`, which stand at `at`."""
        count = ids.shape[0]
        x = self.tokens[ids] + self.places[at]
        seen = self.range[None] <= at[:, None]
        for layer in self.layers:
            y = F.layer_norm(x, (WIDTH,), layer.norm1_weight, layer.norm1_bias)
            q, k, v = F.linear(y, layer.qkv_weight, layer.qkv_bias).view(count, 3, HEADS, -1).permute(1, 2, 0, 3)
            if count == 1:
                layer.keys.index_copy_(2, at, k[None])
                layer.values.index_copy_(2, at, v[None])
                y = F.scaled_dot_product_attention(q[None], layer.keys, layer.values, attn_mask=seen)
            else:
                layer.keys[:, :, :count], layer.values[:, :, :count] = k[None], v[None]
                y = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)
            x = x + F.linear(y[0].transpose(0, 1).reshape(count, WIDTH), layer.out_weight, layer.out_bias)
            y = F.layer_norm(x, (WIDTH,), layer.norm2_weight, layer.norm2_bias)
            y = F.gelu(F.linear(y, layer.up_weight, layer.up_bias), approximate='tanh')
            x = x + F.linear(y, layer.down_weight, layer.down_bias)
        y = F.layer_norm(x[-1:], (WIDTH,), self.norm_weight, self.norm_bias)
        return F.linear(y, self.tokens)


def compiled(model, form):
    if form == 'eager':
        return model
    return torch.compile(model, options={'freezing': True} if form == 'compiled, frozen' else None)


def generate_peer(form):
    def make(t):
        prompt = t['prompt'].long()
        model = Model(t, len(prompt) + TOKENS)
        with torch.no_grad():
            model(prompt, torch.arange(len(prompt)))
        run = compiled(model, form)
        places = torch.arange(len(prompt), len(prompt) + TOKENS)

        @torch.no_grad()
        def step():
            token = torch.tensor([17])
            for at in places.split(1):
                logits = run(token, at)
                token = logits.argmax(1)
            return logits
        return Peer({}, step)
    return make


def prompt_peer(form):
    def make(t):
        prompt = t['prompt'].long()
        run = compiled(Model(t, len(prompt)), form)
        places = torch.arange(len(prompt))

        @torch.no_grad()
        def step():
            return run(prompt, places)
        return Peer({}, step)
    return make


FORMS = ('eager', 'compiled', 'compiled, frozen')
LAYER_WEIGHTS = LAYERS * 12 * WIDTH * WIDTH
CASES = [
    Case('gpt2_generate', 'gpt_generate', inputs(64), {form: generate_peer(form) for form in FORMS}, at_least=1.2,
         reads=4 * TOKENS * (LAYER_WEIGHTS + VOCABULARY * WIDTH), percent_at_least=75),
    Case('gpt2_prompt_512', 'gpt_prompt', inputs(512), {form: prompt_peer(form) for form in FORMS}, at_least=1.2,
         flops=2 * (LAYER_WEIGHTS * 512 + VOCABULARY * WIDTH) + LAYERS * 4 * 512 * 512 / 2 * WIDTH, percent_at_least=65),
]
