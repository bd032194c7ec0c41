// The views of the page in the order of their tabs, and what is there when one cannot be shown.
import { getSnapshots } from './api.js';
import { beamView } from './beam.js';
import { candidates } from './candidates.js';
import { compareView } from './compare.js';
import { element } from './dom.js';
import { headView } from './heads.js';
import { lensView } from './lens.js';
import { matrixView } from './matrix_view.js';
import { overview } from './overview.js';
import { writtenBy } from './pairs.js';
import { saliencyView } from './saliency.js';
import { timeline } from './timeline.js';
import { trainingView } from './training.js';

/**
 * A view, with controls of its own if it has any: `draw` paints anew, `update` follows the state
 * and the run, `leave` stops what goes on, `export` gives what is shown.
 * @typedef {{node: HTMLElement, controls?: HTMLElement, draw: function(): void,
 *   update: function(): void, leave?: function(): void, play?: function(): void,
 *   zoom?: function(number): void, export: function(): ?import('./export.js').Picture}} View
 */

/**
 * A view opens by its `key`, or by its number among those without one. Those with `picks` show a layer
 * and head that can be chosen: of any pair of sequences, or `ofOutput` of those in which the output looks.
 */
export const views = [
  { id: 'matrix', title: 'Matrix', make: matrixView, needs: 'attention', picks: true },
  { id: 'heads', title: 'Heads', make: headView, needs: 'attention', picks: true },
  { id: 'model', title: 'Model', make: overview, needs: 'attention' },
  { id: 'time', title: 'Time', make: timeline, needs: 'attention', picks: true },
  { id: 'beam', title: 'Beam', make: beamView, needs: 'output', picks: true },
  { id: 'next', title: 'Next tokens', make: candidates, needs: 'output' },
  { id: 'lens', title: 'Layers', key: 'l', make: lensView, needs: 'lens' },
  {
    id: 'saliency',
    title: 'Saliency',
    make: saliencyView,
    needs: 'output',
    picks: true,
    ofOutput: true,
  },
  { id: 'compare', title: 'Compare', make: compareView, needs: 'run', picks: true },
  { id: 'training', title: 'Training', make: trainingView, needs: 'nothing' },
];

/** Why a view cannot be shown: nothing was written yet, or the model lacks what it shows. */
export function lacking({ needs }, model, run) {
  if (needs === 'nothing') return '';
  if (needs === 'attention' && !model.layers.length) return 'attention';
  if (needs === 'output' && !writtenBy(model)) return 'output';
  if (needs === 'lens' && !model.lens) return 'lens';
  return run ? '' : 'sentence';
}

const reasons = {
  attention: 'This model has no attention. See its beam, next tokens and saliency instead.',
  output: 'This model has no output to explain. See its attention instead.',
  lens: 'The layers of this model cannot be read by its output layer. See its next tokens instead.',
  sentence:
    'Type a sentence above and press Enter. The output appears token by token, and attention is ' +
    'drawn as it is written.',
};

/** What stands there instead of a view, with a way to go on. */
export function emptyView(app, lack) {
  const node = element('div', { className: 'empty' }, element('p', {}, reasons[lack]));
  if (lack === 'sentence' && app.model.snapshots) suggest(app, node);
  return { node, draw() {}, update() {}, export: () => null };
}

/** Offers the sentences whose maps training has stored. */
async function suggest(app, node) {
  const { sentences } = await getSnapshots(app.model.id).catch(() => ({ sentences: [] }));
  if (!node.isConnected) return;
  node.append(
    ...sentences.map(({ text }) =>
      element(
        'button',
        {
          type: 'button',
          className: 'example',
          dir: 'auto',
          onclick: () => app.rerun({ source: text }),
        },
        text,
      ),
    ),
  );
}
