#!/usr/bin/env python3
"""Compares the training of word vectors with gensim's: the same text, by turns, on the same number of threads.

    bench/peers/word2vec.py ATTEND TEXT [--rounds N] [--threads N] [--epochs N] [--quality SEEDS]

ATTEND is the command; TEXT has a sentence a line, words between spaces. Both sides are 100 wide with a window of 5
and 5 negatives, and leave out words that occur fewer than 5 times. gensim reads the text from its file, without
Python in its loop, and its vocabulary is made before it is timed. Words are those of the text, also where one is left
out by subsampling. A ratio is the median of our words a second divided by theirs. With --quality, both train 5 epochs
for each seed, and gensim's own evaluation judges the vectors by its files wordsim353.tsv and questions-words.txt."""
from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
from gensim.models import KeyedVectors, Word2Vec
from gensim.test.utils import datapath

KINDS = {'skipgram': 1, 'cbow': 0}
EPOCHS = 5  # of the runs whose vectors are judged


def count_words(text: Path) -> int:
    with open(text, encoding='utf8') as lines:
        return sum(len(line.split()) for line in lines)


def attend_run(options, kind: str, seed: int, epochs: float, out: Path) -> float:
    """Trains; words a second of the updates alone."""
    steps = max(20, round(epochs * options.words / 1000))
    subprocess.run([options.attend, '--threads', str(options.threads), 'train', '--preset', kind, '--text', options.text,
                    '--data.documents', 'line', '--vocabulary.minimum-count', '5', '--training.seed', str(seed),
                    '--batch.seed', str(seed), '--steps', str(steps), '--training.report-every', str(max(1, steps // 10)),
                    '--training.save-every', str(steps), '--out', out], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    speeds = [json.loads(line)['tokens_per_second'] for line in open(out / 'log.jsonl', encoding='utf8')
              if 'tokens_per_second' in line]
    return statistics.harmonic_mean(speeds[1:])  # after the first, in which memory is requested


def gensim_model(options, kind: str, seed: int) -> Word2Vec:
    model = Word2Vec(vector_size=100, window=5, negative=5, sg=KINDS[kind], workers=options.threads, min_count=5,
                     seed=seed, sample=1e-3)
    model.build_vocab(corpus_file=str(options.text))
    return model


def gensim_run(options, model: Word2Vec, epochs: int) -> float:
    start = time.perf_counter()
    model.train(corpus_file=str(options.text), total_words=model.corpus_total_words,
                total_examples=model.corpus_count, epochs=epochs)
    return epochs * options.words / (time.perf_counter() - start)


def attend_vectors(options, out: Path, words: list[str]) -> KeyedVectors:
    """Of the words of gensim's vocabulary, as our command prints them."""
    raw = subprocess.run([options.attend, 'embed', out, '--format', 'raw'], input=('\n'.join(words) + '\n').encode(),
                         stdout=subprocess.PIPE, check=True)
    vectors = KeyedVectors(100)
    vectors.add_vectors(words, numpy.frombuffer(raw.stdout, numpy.float32).reshape(len(words), 100))
    return vectors


def judged(vectors: KeyedVectors) -> tuple[float, float]:
    similarity = vectors.evaluate_word_pairs(datapath('wordsim353.tsv'))[1][0]
    return similarity, vectors.evaluate_word_analogies(datapath('questions-words.txt'))[0]


def speed(options, kind: str, folder: Path) -> None:
    ratios = []
    model = gensim_model(options, kind, 1)
    for number in range(options.rounds):
        ours = attend_run(options, kind, 1, options.epochs, folder / f'{kind}-{number}')
        theirs = gensim_run(options, model, options.epochs)
        ratios.append(ours / theirs)
        print(f'{kind:9} {ours:10.0f} words/s, gensim {theirs:10.0f}, ratio {ratios[-1]:.2f}', flush=True)
    print(f'{kind:9} median ratio {statistics.median(ratios):.2f}', flush=True)


def quality(options, kind: str, folder: Path) -> None:
    for seed in range(1, options.quality + 1):
        model = gensim_model(options, kind, seed)
        gensim_run(options, model, EPOCHS)
        out = folder / f'{kind}-seed-{seed}'
        attend_run(options, kind, seed, EPOCHS, out)
        ours = judged(attend_vectors(options, out, model.wv.index_to_key))
        theirs = judged(model.wv)
        print(f'{kind:9} seed {seed}: wordsim353 {ours[0]:.4f}, gensim {theirs[0]:.4f}; analogies {ours[1]:.4f}, '
              f'gensim {theirs[1]:.4f}', flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('attend')
    parser.add_argument('text', type=Path)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--epochs', type=int, default=1)
    parser.add_argument('--quality', type=int, default=0, metavar='SEEDS')
    options = parser.parse_args()
    options.words = count_words(options.text)
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            if options.rounds > 0:
                speed(options, kind, Path(folder))
            if options.quality > 0:
                quality(options, kind, Path(folder))


if __name__ == '__main__':
    sys.exit(main())
