// Embeddings as a picture: vectors of texts or of words as points of a plane, coloured by label.
import { postPoints } from './api.js';
import { choice, element, field, fillSelect } from './dom.js';
import { latest } from './latest.js';
import { frozen, stackedSvg } from './markup.js';
import { entriesOf, keyOfMark, labelsOf, Plot } from './point_plot.js';
import { ranges, within } from './state.js';

const sources = [
  ['texts', 'its texts'],
  ['words', 'its words'],
  ['lines', 'your lines'],
];
const methods = [
  ['pca', 'PCA'],
  ['tsne', 't-SNE'],
];
const counts = ['100', '200', '500', '1000', '2000'];
const hints = {
  pca:
    'Principal components keep large distances: the axes are the two directions in which the vectors ' +
    'vary most.',
  tsne:
    't-SNE keeps neighbours together. Distances between groups, and how large they are, mean little.',
};

/**
 * @typedef {{x: number, y: number, text: string, label: string}} Point
 * @typedef {{title: string, x_axis: string, y_axis: string, points: Point[]}} PointMap
 */

let ownLines = ''; // what was typed lasts as long as the page

/** @param {import('./main.js').App} app */
export function embeddingsView(app) {
  const { store } = app;
  const source = choice('Points', sources, (points) => store.set({ points }));
  const method = choice('Method', methods, (projection) => store.set({ projection }));
  const most = element('select', {
    onchange: () => store.set({ most: Number(most.value) }),
  });
  const perplexity = element('input', {
    type: 'number',
    min: ranges.perplexity[0],
    max: ranges.perplexity[1],
    onchange: () =>
      store.set({ perplexity: within(Math.round(Number(perplexity.value)) || 30, ranges.perplexity) }),
  });
  const [mostField, perplexityField] = [field('Points', most), field('Perplexity', perplexity)];
  const lines = element('textarea', {
    rows: 6,
    dir: 'auto',
    value: ownLines,
    spellcheck: false,
    placeholder: 'A text on each line; after a tab, its label',
    'aria-label': 'Lines to show',
  });
  const own = element(
    'form',
    {
      className: 'own-lines',
      onsubmit(event) {
        event.preventDefault();
        ownLines = lines.value;
        follow();
      },
    },
    lines,
    element('button', { type: 'submit' }, 'Show'),
  );
  const hint = element('p', { className: 'hint' });
  const progress = element('p', { className: 'hint', role: 'status' });
  const plot = new Plot((point) => describe(panel, point));
  const panel = element('aside', { className: 'readout point', 'aria-live': 'polite' });
  const key = element('ul', { className: 'key-of-labels' });
  /** @type {?PointMap} */
  let map = null;
  const clear = () => {
    map = null;
    show();
  };
  const load = latest(app, () => {
    progress.textContent = '';
    clear();
  });
  const show = () => {
    const labels = labelsOf(map?.points ?? []);
    const off = new Set();
    plot.show(map, labels, sourceNow(app) === 'words');
    describe(panel, null, Boolean(map));
    key.replaceChildren(
      ...entriesOf(labels).map(({ name, mark, count, belongs }) => {
        const entry = element('button', { type: 'button', 'aria-pressed': true });
        entry.append(keyOfMark(mark), element('bdi', {}, name), ` ${count}`);
        entry.onclick = () => {
          const isOn = off.has(entry);
          if (isOn) off.delete(entry);
          else off.add(entry);
          entry.setAttribute('aria-pressed', isOn);
          plot.turn(belongs, isOn);
        };
        return element('li', {}, entry);
      }),
    );
  };
  const follow = () => {
    const { state } = store;
    const of = sourceNow(app);
    const body = {
      model: app.model.id,
      of,
      method: state.projection === 'tsne' ? 'tsne' : 'pca',
      perplexity: state.perplexity,
      most: state.most,
      ...(of === 'lines' && { lines: ownLines }),
    };
    if (of === 'lines' && !ownLines.trim()) return load.reset();
    const onProgress = ({ what, done, of: all }) => {
      progress.textContent = `${what}: ${done} of ${all}`;
    };
    load(
      JSON.stringify(body),
      (signal) => postPoints(body, onProgress, signal),
      (points) => {
        progress.textContent = '';
        map = points;
        show();
      },
    );
  };
  clear();
  return {
    controls: element(
      'div',
      { className: 'picker' },
      source.node,
      method.node,
      mostField,
      perplexityField,
    ),
    node: element(
      'div',
      {},
      own,
      hint,
      progress,
      element(
        'div',
        { className: 'beside' },
        element('div', { className: 'stage' }, plot.node),
        element('div', { className: 'at-side' }, panel, key),
      ),
    ),
    draw: () => plot.draw(),
    update() {
      const { projection, perplexity: wanted, most: count } = store.state;
      const of = sourceNow(app);
      source.choose(of, offeredSources(app));
      const isTsne = projection === 'tsne';
      method.choose(isTsne ? 'tsne' : 'pca');
      hint.textContent = hints[isTsne ? 'tsne' : 'pca'];
      const offered = counts.includes(String(count)) ? counts : [...counts, String(count)];
      fillSelect(most, offered.map((each) => [each, each]), String(count));
      if (document.activeElement !== perplexity) perplexity.value = wanted;
      mostField.hidden = of === 'lines';
      perplexityField.hidden = !isTsne;
      own.hidden = of !== 'lines';
      follow();
    },
    leave: load.drop,
    export: () =>
      map && {
        title: `embeddings, ${map.title}`,
        svg: () => stackedSvg(frozen([{ drawing: plot.drawing, title: map.title }])),
        data: { title: map.title, x_axis: map.x_axis, y_axis: map.y_axis, points: map.points },
        origin: { source: '', output: '' },
      },
  };
}

const offeredSources = ({ model }) =>
  model.words ? ['words', 'lines'] : ['texts', 'words', 'lines'];

/** Whose vectors are shown: what the address says if it can be. */
function sourceNow(app) {
  const offered = offeredSources(app);
  return [app.store.state.points, offered[0]].find((each) => offered.includes(each));
}

function describe(panel, point, isThere = true) {
  panel.classList.toggle('empty', !point);
  if (!point) {
    const text = isThere ? 'Point at the picture to read the text of a point, or move with the arrow keys.' : '';
    panel.replaceChildren(element('p', { className: 'pair' }, text));
    return;
  }
  panel.replaceChildren(
    ...(point.label ? [element('h3', {}, element('bdi', {}, point.label))] : []),
    element('p', { className: 'text', dir: 'auto' }, point.text),
  );
}
