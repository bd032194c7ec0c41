// The views of the page in the order of their tabs, and what is there when one cannot be shown.
import { getSnapshots } from './api.js';
import { beamView } from './beam.js';
import { candidates } from './candidates.js';
import { compareView } from './compare.js';
import { element } from './dom.js';
import { headView } from './heads.js';
import { matrixView } from './matrix_view.js';
import { overview } from './overview.js';
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

/** Those with `picks` show a layer and head that can be chosen: of any part, or of `part` alone. */
export const views = [
  { id: 'matrix', title: 'Matrix', make: matrixView, needs: 'attention', picks: true },
  { id: 'heads', title: 'Heads', make: headView, needs: 'attention', picks: true },
  { id: 'model', title: 'Model', make: overview, needs: 'attention' },
  { id: 'time', title: 'Time', make: timeline, needs: 'attention', picks: true },
  { id: 'beam', title: 'Beam', make: beamView, needs: 'run', picks: true },
  { id: 'next', title: 'Next tokens', make: candidates, needs: 'run' },
  { id: 'saliency', title: 'Saliency', make: saliencyView, needs: 'run', picks: true, part: 'cross' },
  { id: 'compare', title: 'Compare', make: compareView, needs: 'run', picks: true },
  { id: 'training', title: 'Training', make: trainingView, needs: 'nothing' },
];

/** Why a view cannot be shown: nothing was written yet, or the model does not look. */
export function lacking({ needs }, model, run) {
  if (needs === 'nothing') return '';
  if (needs === 'attention' && !model.layers.length) return 'attention';
  return run ? '' : 'sentence';
}

/** What stands there instead of a view, with a way to go on. */
export function emptyView(app, lack) {
  const text =
    lack === 'attention'
      ? 'This model has no attention to look at. Its beam, next tokens and saliency can be seen.'
      : 'Type a sentence above and press Enter. The output is written token by token, and what ' +
        'the model looks at is drawn as it goes.';
  const node = element('div', { className: 'empty' }, element('p', {}, text));
  if (lack === 'sentence' && app.model.snapshots) suggest(app, node);
  return { node, draw() {}, update() {}, export: () => null };
}

/** Offers the sentences that training kept maps of. */
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
