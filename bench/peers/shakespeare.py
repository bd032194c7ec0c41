#!/usr/bin/env python3
"""Trains nanoGPT's CPU setting with PyTorch, as nanoGPT does, on the data of recipes/shakespeare/get-data, and measures
its loss over all adjacent windows of the held-out text, as `attend evaluate --text` does for the recipe's models."""
import argparse
import math
from pathlib import Path

import torch

from cases.train_gpt import Model, shapes

DATA = Path(__file__).resolve().parents[2] / 'recipes/shakespeare/data'
WIDTH, HEADS, LAYERS, CONTEXT, BATCH = 128, 4, 4, 64, 12
RATE, FLOOR, WARMUP = 1e-3, 1e-4, 100


def first_weights(vocabulary, generator):
    """Normal, and smaller where a layer adds to the residual stream."""
    numbers = {'vocabulary': vocabulary, 'width': WIDTH, 'heads': HEADS, 'layers': LAYERS, 'context': CONTEXT,
               'dropout': 0.0}

    def first(name, shape):
        if 'norm' in name:
            return torch.ones(shape)
        added = name.endswith('self.output.weight') or name.endswith('feed_forward.out.weight')
        return torch.normal(0.0, 0.02 / math.sqrt(2 * LAYERS) if added else 0.02, shape, generator=generator)
    return {name: first(name, shape) for name, shape in shapes(vocabulary, WIDTH, LAYERS, CONTEXT).items()} | numbers


def rate_at(step, steps):
    if step < WARMUP:
        return RATE * (step + 1) / (WARMUP + 1)
    return FLOOR + 0.5 * (1 + math.cos(math.pi * (step - WARMUP) / (steps - WARMUP))) * (RATE - FLOOR)


@torch.inference_mode()
def loss_over_windows(model, ids):
    model.eval()
    total, predicted = 0.0, 0
    for begin in range(0, len(ids) - CONTEXT, CONTEXT):
        window = ids[begin:begin + CONTEXT + 1]
        total += model(window[None, :-1], window[None, 1:]).item() * CONTEXT
        predicted += CONTEXT
    return total / predicted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--steps', type=int, default=2000, help='(default: %(default)s)')
    parser.add_argument('--threads', type=int, default=2, help='(default: %(default)s)')
    parser.add_argument('--seed', type=int, default=1, help='(default: %(default)s)')
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    texts = {part: (DATA / f'{part}.txt').read_text() for part in ('train', 'valid')}
    characters = {c: i for i, c in enumerate(sorted(set(texts['train'] + texts['valid'])))}
    ids = {part: torch.tensor([characters[c] for c in text]) for part, text in texts.items()}

    generator = torch.Generator().manual_seed(args.seed)
    model = Model(first_weights(len(characters), generator))
    model.train()
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{'params': decayed, 'weight_decay': 0.1}, {'params': others, 'weight_decay': 0.0}],
                                  betas=(0.9, 0.99), fused=True)
    for step in range(args.steps):
        for group in optimizer.param_groups:
            group['lr'] = rate_at(step, args.steps)
        begins = torch.randint(len(ids['train']) - CONTEXT, (BATCH,), generator=generator)
        windows = torch.stack([ids['train'][begin:begin + CONTEXT + 1] for begin in begins])
        optimizer.zero_grad()
        model(windows[:, :-1], windows[:, 1:]).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(f'{args.steps} steps, seed {args.seed}: {loss_over_windows(model, ids["valid"]):.4f} nats per character')


if __name__ == '__main__':
    main()
