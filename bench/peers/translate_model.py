"""One Transformer with random weights, written for Attend and for CTranslate2."""
from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

UNKNOWN, START, END = range(3)
POSITIONS = 256


@dataclass(frozen=True)
class Size:
    width: int
    heads: int
    feed_forward: int
    layers: int  # of the encoder, and of the decoder
    vocabulary: int


SIZES = {'small': Size(256, 4, 1024, 3, 8000), 'base': Size(512, 8, 2048, 6, 32000)}


def shapes(size: Size) -> dict[str, tuple[int, ...]]:
    """By our names."""
    found = {'target_embedding.weight': (size.vocabulary, size.width)}

    def norm(name):
        found.update({f'{name}.weight': (size.width,), f'{name}.bias': (size.width,)})

    def linear(name, rows, columns):
        found.update({f'{name}.weight': (rows, columns), f'{name}.bias': (rows,)})

    for side, attentions in (('encoder', ('self',)), ('decoder', ('self', 'cross'))):
        for layer in (f'{side}.{i}' for i in range(size.layers)):
            for attention in attentions:
                norm(f'{layer}.{attention}_norm')
                for part in ('query', 'key', 'value', 'output'):
                    linear(f'{layer}.{attention}.{part}', size.width, size.width)
            norm(f'{layer}.feed_forward_norm')
            linear(f'{layer}.feed_forward.in', size.feed_forward, size.width)
            linear(f'{layer}.feed_forward.out', size.width, size.feed_forward)
        norm(f'{side}_norm')
    return found


def random_weights(size: Size) -> dict[str, np.ndarray]:
    """What each sublayer adds is large beside the embeddings, so that the model does not only repeat its
    input; and the unknown and the start are never written."""
    rng = np.random.default_rng(1)

    def first(name, shape):
        if name.endswith('norm.weight'):
            return 1 + 0.1 * rng.standard_normal(shape, np.float32)
        if len(shape) == 1:
            return 0.1 * rng.standard_normal(shape, np.float32)
        gain = 1 if 'embedding' in name else 2
        return gain * shape[1] ** -0.5 * rng.standard_normal(shape, np.float32)
    weights = {name: first(name, shape).astype(np.float32) for name, shape in shapes(size).items()}
    weights['target_embedding.weight'][[UNKNOWN, START]] = 0
    return weights


def write_ours(size: Size, weights: dict[str, np.ndarray], folder: Path) -> None:
    config = {'width': size.width, 'heads': size.heads, 'feed_forward': size.feed_forward,
              'encoder_layers': size.layers, 'decoder_layers': size.layers, 'tying': 'all',
              'source_vocabulary': size.vocabulary, 'target_vocabulary': size.vocabulary}
    (folder / 'config.json').write_text(json.dumps(config))
    header, end = {}, 0
    for name, values in weights.items():
        header[name] = {'dtype': 'F32', 'shape': values.shape, 'data_offsets': [end, end + values.nbytes]}
        end += values.nbytes
    text = json.dumps(header).encode()
    with open(folder / 'model.safetensors', 'wb') as file:
        file.write(len(text).to_bytes(8, 'little') + text)
        for values in weights.values():
            file.write(values.tobytes())


def sinusoids(length: int, width: int) -> np.ndarray:
    place = np.arange(length)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    return np.stack((np.sin(place), np.cos(place)), -1).reshape(length, width).astype(np.float32)


def write_theirs(size: Size, weights: dict[str, np.ndarray], folder: Path) -> None:
    from ctranslate2.specs import TransformerSpec

    def linear(spec, *names):  # rows of several matrices as one
        spec.weight = np.concatenate([weights[f'{name}.weight'] for name in names])
        spec.bias = np.concatenate([weights[f'{name}.bias'] for name in names])

    def norm(spec, name):
        spec.gamma, spec.beta = weights[f'{name}.weight'], weights[f'{name}.bias']

    def layer(spec, name):
        norm(spec.self_attention.layer_norm, f'{name}.self_norm')
        linear(spec.self_attention.linear[0], *(f'{name}.self.{part}' for part in ('query', 'key', 'value')))
        linear(spec.self_attention.linear[1], f'{name}.self.output')
        if name.startswith('decoder'):
            norm(spec.attention.layer_norm, f'{name}.cross_norm')
            linear(spec.attention.linear[0], f'{name}.cross.query')
            linear(spec.attention.linear[1], f'{name}.cross.key', f'{name}.cross.value')
            linear(spec.attention.linear[2], f'{name}.cross.output')
        norm(spec.ffn.layer_norm, f'{name}.feed_forward_norm')
        linear(spec.ffn.linear_0, f'{name}.feed_forward.in')
        linear(spec.ffn.linear_1, f'{name}.feed_forward.out')

    spec = TransformerSpec.from_config(size.layers, size.heads)
    table = weights['target_embedding.weight']
    spec.encoder.embeddings[0].weight = spec.decoder.embeddings.weight = table
    spec.decoder.projection.weight = table
    for side, part in (('encoder', spec.encoder), ('decoder', spec.decoder)):
        part.position_encodings.encodings = sinusoids(POSITIONS, size.width)
        norm(part.layer_norm, f'{side}_norm')
        for i, one in enumerate(part.layer):
            layer(one, f'{side}.{i}')
    vocabulary = ['<unk>', '<s>', '</s>'] + [str(i) for i in range(END + 1, size.vocabulary)]
    spec.register_source_vocabulary(vocabulary)
    spec.register_target_vocabulary(vocabulary)
    spec.validate()
    spec.optimize()
    spec.save(str(folder))
