#!/usr/bin/env python3
"""Compares `attend embed` with sentence-transformers: the same weights and the same WordPiece tokens, by turns, on the
same number of threads.

    bench/peers/embed.py ATTEND TEXT [--rounds N] [--threads N] [--texts N]

ATTEND is the command; TEXT has a sentence a line. The encoder has the shape of MiniLM (6 layers, 384 wide, 12 heads) with
random weights, and a vector is the mean of a text's rows. Ours is timed as a process, which loads the model and writes a file;
the peer has its model loaded, sorts all texts by length, and reads 32 at a time. Both sides tokenize. Before it is timed, the
vectors are compared. A ratio is the peer's median time divided by ours."""
from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy

WIDTH, LAYERS, HEADS, VOCABULARY, POSITIONS = 384, 6, 12, 8000, 512
FLOPS = 24 * WIDTH * WIDTH * LAYERS  # of a token, beside the products of pairs


def make_ours(options, folder: Path) -> Path:
    """A model that took one step."""
    out = folder / 'ours'
    settings = {'bert.width': WIDTH, 'bert.layers': LAYERS, 'bert.heads': HEADS, 'bert.max-length': POSITIONS}
    subprocess.run([options.attend, 'train', '--preset', 'bert-mini', '--text', options.text, '--vocabulary.kind', 'wordpiece',
                    '--vocabulary.lowercase', '--vocabulary.vocabulary', str(VOCABULARY), '--steps', '1', '--out', out,
                    *(word for name, value in settings.items() for word in (f'--model.{name}', str(value)))],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return out


def peer_weights(ours: dict) -> dict:
    """By the names of `transformers`."""
    parts = {'embedding_norm': 'embeddings.LayerNorm'}
    for i in range(LAYERS):
        parts |= {f'layers.{i}.self.{x}': f'encoder.layer.{i}.attention.self.{x}' for x in ('query', 'key', 'value')}
        parts |= {f'layers.{i}.self.output': f'encoder.layer.{i}.attention.output.dense',
                  f'layers.{i}.self_norm': f'encoder.layer.{i}.attention.output.LayerNorm',
                  f'layers.{i}.feed_forward.in': f'encoder.layer.{i}.intermediate.dense',
                  f'layers.{i}.feed_forward.out': f'encoder.layer.{i}.output.dense',
                  f'layers.{i}.feed_forward_norm': f'encoder.layer.{i}.output.LayerNorm'}
    found = {'embeddings.word_embeddings.weight': ours['encoder.embedding.table.weight'],
             'embeddings.position_embeddings.weight': ours['encoder.embedding.positions.weight'],
             'embeddings.token_type_embeddings.weight': ours['encoder.segments.weight']}
    for name, theirs in parts.items():
        for kind in ('weight', 'bias'):
            found[f'{theirs}.{kind}'] = ours[f'encoder.{name}.{kind}']
    return found


def make_peer(ours: Path, folder: Path):
    from safetensors.torch import load_file
    from sentence_transformers import SentenceTransformer, models
    from transformers import BertConfig, BertModel, BertTokenizerFast
    words = (ours / 'tokenizer.model').read_text(encoding='utf8').split('\n')[1:]
    theirs = folder / 'theirs'
    theirs.mkdir()
    (theirs / 'vocab.txt').write_text('[PAD]\n' + '\n'.join(words), encoding='utf8')
    weights = peer_weights(load_file(ours / 'model.safetensors'))
    table = weights['embeddings.word_embeddings.weight']
    weights['embeddings.word_embeddings.weight'] = table.new_zeros((len(table) + 1, WIDTH)).index_copy_(
        0, table.new_tensor(range(1, len(table) + 1)).long(), table)  # the peer needs a token to pad with
    model = BertModel(BertConfig(vocab_size=len(table) + 1, hidden_size=WIDTH, num_hidden_layers=LAYERS,
                                 num_attention_heads=HEADS, intermediate_size=4 * WIDTH, pad_token_id=0,
                                 max_position_embeddings=POSITIONS), add_pooling_layer=False)
    missing, unknown = model.load_state_dict(weights, strict=False)
    if unknown or any('position_ids' not in name for name in missing):
        raise ValueError(f'weights do not fit: missing {missing}, unknown {unknown}')
    model.save_pretrained(theirs)
    BertTokenizerFast(vocab=str(theirs / 'vocab.txt'), do_lower_case=True).save_pretrained(theirs)
    reader = models.Transformer(str(theirs), max_seq_length=POSITIONS)
    return SentenceTransformer(modules=[reader, models.Pooling(WIDTH, pooling_mode='mean')], device='cpu')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('attend')
    parser.add_argument('text', type=Path)
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--texts', type=int, default=10000)
    options = parser.parse_args()
    import torch
    torch.set_num_threads(options.threads)
    texts = [line for line in options.text.read_text(encoding='utf8').split('\n') if line][:options.texts]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = make_ours(options, folder)
        peer = make_peer(ours, folder)
        lines, vectors = folder / 'texts', folder / 'vectors.npy'
        lines.write_text('\n'.join(texts) + '\n', encoding='utf8')

        def our_run():
            subprocess.run([options.attend, '--threads', str(options.threads), 'embed', ours, '--input', lines,
                            '--format', 'npy', '--output', vectors], check=True, stderr=subprocess.DEVNULL)

        def peer_run():
            return peer.encode(texts, batch_size=32, show_progress_bar=False)

        our_run()
        theirs, found = peer_run(), numpy.load(vectors)
        worst = numpy.abs(found - theirs).max() / numpy.abs(theirs).max()
        if not worst < 1e-3:
            sys.exit(f'embed.py: the vectors differ by {worst:.3g} of the largest value')
        times = {our_run: [], peer_run: []}
        for _ in range(options.rounds):
            for run, seconds in times.items():
                start = time.perf_counter()
                run()
                seconds.append(time.perf_counter() - start)
        mine, other = (statistics.median(seconds) for seconds in times.values())
        print(f'{len(texts)} texts: {len(texts) / mine:.0f} texts/s, sentence-transformers {len(texts) / other:.0f}; '
              f'ratio {other / mine:.2f} ({min(b / a for a, b in zip(*times.values())):.2f} to '
              f'{max(b / a for a, b in zip(*times.values())):.2f}); vectors differ by {worst:.1e}')


if __name__ == '__main__':
    os.environ['TOKENIZERS_PARALLELISM'] = 'true'
    sys.exit(main())
