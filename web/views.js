// The views of the page in the order of their tabs, and what is there when one cannot be shown.
import { beamView } from './beam.js';
import { candidates } from './candidates.js';
import { compareView } from './compare.js';
import { element } from './dom.js';
import { embeddingsView } from './embeddings.js';
import { firstInputs } from './first_inputs.js';
import { headView } from './heads.js';
import { lensView } from './lens.js';
import { maskedView } from './masked.js';
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
 * A view opens by its `key`, or by its number among those without one; `about` says what it shows.
 * Those that stand `alone` show nothing of the input. Those with `picks` show a layer and head that can be chosen: of any pair of sequences, or
 * `ofOutput` of those in which the output attends.
 */
export const views = [
  {
    id: 'matrix',
    title: 'Attention map',
    about:
      'Which tokens the model attended to: a row is a token that attends, a column one that is ' +
      'attended to, and the stronger the colour, the larger the weight. Click a cell to see how its ' +
      'weight is computed.',
    make: matrixView,
    needs: 'attention',
    picks: true,
  },
  {
    id: 'heads',
    title: 'Lines',
    about:
      'The same weights as lines between tokens. Point at a token to see what it attends to and ' +
      'what attends to it.',
    make: headView,
    needs: 'attention',
    picks: true,
  },
  {
    id: 'model',
    title: 'All heads',
    about:
      'Every head of every layer as a small map. Click one to open it, or switch it off to see ' +
      'what the model writes without it.',
    make: overview,
    needs: 'attention',
  },
  {
    id: 'time',
    title: 'Step by step',
    about: 'What each token of the output attends to as it is written, with a slider to play.',
    make: timeline,
    needs: 'attention',
    picks: true,
  },
  {
    id: 'beam',
    title: 'Beam search',
    about:
      'The tree of all candidates that the search considered, and which of them it kept. Click one ' +
      'to see its attention.',
    make: beamView,
    needs: 'output',
    picks: true,
  },
  {
    id: 'next',
    title: 'Next tokens',
    about:
      'The likeliest tokens at each step, with their probabilities. Click another one, and the ' +
      'rest is written again from there.',
    make: candidates,
    needs: 'output',
  },
  {
    id: 'lens',
    title: 'Layer by layer',
    key: 'l',
    about: 'What the model would write if it stopped after each layer (the logit lens).',
    make: lensView,
    needs: 'lens',
  },
  {
    id: 'masked',
    title: 'Masked tokens',
    key: 'm',
    about: 'What the model would write at each place of the text if its token were hidden.',
    make: maskedView,
    needs: 'masked',
  },
  {
    id: 'saliency',
    title: 'Saliency',
    about:
      'How much each token of the input changes each token of the output, measured by gradients, ' +
      'beside the attention weights.',
    make: saliencyView,
    needs: 'output',
    picks: true,
    ofOutput: true,
  },
  {
    id: 'compare',
    title: 'Compare',
    about: 'Two models, two inputs or two heads side by side, with their difference.',
    make: compareView,
    needs: 'run',
    picks: true,
  },
  {
    id: 'points',
    title: 'Embeddings',
    key: 'p',
    about:
      'Vectors of texts, or of words, as points of a plane, by principal components or t-SNE, ' +
      'coloured by label. Point at one to read its text.',
    make: embeddingsView,
    needs: 'encoder',
    alone: true,
  },
  {
    id: 'training',
    title: 'Training',
    about:
      'Loss and validation scores, live while the model trains, and snapshots of its attention ' +
      'if training stored any.',
    make: trainingView,
    needs: 'nothing',
    alone: true,
  },
];

const numbered = views.filter(({ key }) => !key);

/** The key that opens a view. */
export const keyOf = (view) => view.key ?? String(numbered.indexOf(view) + 1);

/** Why a view cannot be shown: nothing was written yet, or the model lacks what it shows. */
export function lacking({ needs }, model, run) {
  if (needs === 'nothing') return '';
  if (needs === 'encoder') return model.embeds ? '' : 'encoder';
  if (needs === 'attention' && !model.layers.length) return 'attention';
  if (needs === 'output' && !writtenBy(model)) return 'output';
  if (needs === 'lens' && !model.lens) return 'lens';
  if (needs === 'masked' && !model.masked) return 'masked';
  return run ? '' : 'sentence';
}

const reasons = {
  attention:
    'This model has no attention. Its beam search, next tokens and saliency can be seen instead.',
  output: 'This model has no output to explain. Its attention can be seen instead.',
  lens:
    'The output layer of this model cannot read its other layers. Its next tokens can be seen ' +
    'instead.',
  encoder: 'This model has no vectors of texts.',
  masked: 'This model was not trained to tell what was hidden. Its other views show what it does.',
  sentence: '',
};

/** The views that have a tab: of those for few models, the ones that this model has. */
export function offeredViews(model) {
  const rare = { masked: model.masked, encoder: model.embeds };
  return views.filter(({ needs }) => rare[needs] ?? true);
}

/** What stands there instead of a view, with a way to go on. */
export function emptyView(app, lack) {
  const node = element('div', { className: 'empty' });
  if (reasons[lack]) node.append(element('p', {}, reasons[lack]));
  if (!app.run) node.append(firstInputs(app));
  return { node, draw() {}, update() {}, export: () => null };
}
