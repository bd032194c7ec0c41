// How one weight is computed: query and key dimension by dimension, the score step by step, the
// value, and what the head adds up.
import { getCell } from './api.js';
import { element, svg } from './dom.js';
import { latest } from './latest.js';
import { largest } from './maps.js';
import { endsOf, isBlock } from './pairs.js';
import { percent, weight } from './numbers.js';
import { tokenText } from './tokens.js';

const mostHeads = 8;
const reductions = ['mean', 'rollout', 'flow'];

/** @typedef {{name: string, operand: ?number, value: ?number}} Step */
/**
 * @typedef {{layer: string, head: number, query: {index: number, text: string},
 *   key: {index: number, text: string}, score: string, weighting: string, q: number[], k: number[],
 *   term: number[], vector: number[], products: number[], steps: Step[], masked: string,
 *   log_sum_exp: ?number, weight: number, v: number[], weighted: number[], output: number[],
 *   contributions: Array<{key: number, text: string, weight: number, length: number,
 *     share: number}>}} Cell
 */

/**
 * The panel below a map, for the cell that is chosen in it.
 * @param {import('./main.js').App} app
 */
export function arithmetic(app) {
  const { store } = app;
  const body = element('div');
  const node = element(
    'section',
    { className: 'arithmetic', hidden: true, tabIndex: -1, 'aria-label': 'How this weight is computed' },
    element('h2', {}, 'How this weight is computed'),
    body,
  );
  const clear = () => {
    node.hidden = true;
    body.replaceChildren();
  };
  const load = latest(app, clear);
  const show = (answer) => {
    node.hidden = false;
    body.replaceChildren(...(answer.heads ? headsOf(app, answer.heads) : partsOf(answer)));
  };
  return {
    node,
    /** Follows the cell that is chosen; -1 for none. */
    update(map) {
      const { run, selection } = app;
      const { path, row, column } = store.state;
      const isThere = map && row >= 0 && column >= 0 && row < map.rows.length && column < map.columns.length;
      if (!run?.done || !isThere) return load.reset();
      const query = { ...placeOf(run.model, selection), row, column, ...(path && { path }) };
      load(JSON.stringify([run.id, query]), () => getCell(run.number, query), show);
    },
    leave: load.drop,
    focus() {
      if (node.hidden) return;
      node.scrollIntoView({ block: 'nearest' });
      node.focus({ preventScroll: true });
    },
  };
}

/** A head, the heads of a layer, or those of all layers of a pair. */
function placeOf(model, { pair, layer, head }) {
  if (reductions.includes(layer)) return endsOf(pair);
  const block = isBlock(model, pair) ? endsOf(pair) : {};
  return /^\d+$/.test(head) ? { layer, head, ...block } : { layer, ...block };
}

/** A map of several heads is a mean of them: which of them looks here? */
function headsOf(app, heads) {
  const ranked = [...heads].sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
  const most = Math.abs(ranked[0].weight) || 1;
  const entries = ranked.slice(0, mostHeads).map(({ layer, head, weight: value }) =>
    element(
      'li',
      {},
      element(
        'button',
        { type: 'button', onclick: () => app.store.set({ layer, head: String(head) }) },
        element('span', {}, `${layer}, head ${head}`),
        bar(value / most),
        element('span', {}, weight(value)),
      ),
    ),
  );
  return [
    element(
      'p',
      { className: 'hint' },
      'This map combines several heads. Choose one to see its arithmetic. These have the largest weights here.',
    ),
    element('ol', { className: 'heads-here' }, ...entries),
  ];
}

/** @param {Cell} cell */
function partsOf(cell) {
  const parts = [element('p', { className: 'hint' }, describe(cell)), chain(cell)];
  if (cell.k.length)
    parts.push(
      strips('Query and key, dimension by dimension', [
        ['q', cell.q],
        ['k', cell.k],
        ...(cell.term.length ? [['term', cell.term]] : []),
        ...(cell.vector.length ? [['v', cell.vector]] : []),
        [cell.vector.length ? 'v × tanh' : cell.score === 'distance' ? '−(q − k)²' : 'q × k', cell.products],
      ]),
    );
  parts.push(
    strips('Value, and the output of the head for this query', [
      ['value', cell.v],
      ['weight × value', cell.weighted, cell.output],
      ['sum over keys', cell.output, cell.weighted],
    ]),
    contributions(cell),
  );
  return parts;
}

function describe({ query, key, masked }) {
  const names = [query, key].map(({ text }) => tokenText(text, false));
  const pair = `“${names[0]}” (${query.index + 1}) attends to “${names[1]}” (${key.index + 1}).`;
  return masked ? `${pair} ${masked[0].toUpperCase()}${masked.slice(1)}.` : pair;
}

/** The steps from the products to the weight. @param {Cell} cell */
function chain({ steps, weighting }) {
  const entries = steps.map(({ name, operand, value }) => {
    const isSoftmax = name === weighting && operand !== null;
    const what = isSoftmax ? `log-sum-exp ${weight(operand)}` : operand === null ? '' : weight(operand);
    return element(
      'li',
      {},
      element('span', {}, what ? `${name} ${isSoftmax ? `(${what})` : what}` : name),
      element('strong', {}, value === null ? '−∞' : weight(value)),
    );
  });
  return element('ol', { className: 'chain' }, ...entries);
}

/**
 * Vectors as rows of bars, a dimension in each column; pointing at one shows its numbers.
 * @param {string} title
 * @param {Array<[string, number[], number[]?]>} rows names and vectors; the third is one that it
 *   shares a scale with
 */
function strips(title, rows) {
  const numbers = element('output', { className: 'numbers' });
  const width = rows[0][1].length;
  const drawn = rows.map(([name, values, beside = []]) => {
    const most = largest([...values, ...beside]);
    return element(
      'div',
      { className: 'strip' },
      element('span', {}, name),
      bars(values, most),
      element('small', {}, `±${weight(most)}`),
    );
  });
  const list = element('div', { className: 'strips' }, ...drawn);
  const point = ({ clientX, target }) => {
    const box = target.closest('svg')?.getBoundingClientRect();
    if (!box) return (numbers.textContent = '');
    const place = Math.floor(((clientX - box.left) / box.width) * width);
    const at = Math.max(0, Math.min(width - 1, place));
    numbers.textContent =
      `dimension ${at}: ` + rows.map(([name, values]) => `${name} ${weight(values[at])}`).join(', ');
  };
  list.addEventListener('pointermove', point);
  list.addEventListener('pointerdown', point);
  list.addEventListener('pointerleave', () => (numbers.textContent = ''));
  return element('section', {}, element('h3', {}, title), list, numbers);
}

/** Signed bars; one of `most` fills its half. */
function bars(values, most) {
  const width = values.length;
  const rectangles = values.map((value, x) => {
    const height = Math.abs(value) / (most || 1);
    return svg('rect', {
      x: x + 0.1,
      y: value < 0 ? 0 : -height,
      width: 0.8,
      height,
      class: value < 0 ? 'negative' : '',
    });
  });
  const names = { role: 'img', 'aria-label': `${width} numbers, up to ${weight(most)}` };
  const drawing = svg(
    'svg',
    { viewBox: `0 -1 ${width} 2`, preserveAspectRatio: 'none', ...names },
    svg('line', { x1: 0, x2: width, y1: 0, y2: 0 }),
    ...rectangles,
  );
  drawing.style.maxWidth = `${1.5 * width}rem`;
  return drawing;
}

/** The keys that give the most to the output of the head. @param {Cell} cell */
function contributions({ contributions: all, key }) {
  const entries = all.map(({ key: index, text, weight: value, share }) =>
    element(
      'li',
      { 'aria-current': index === key.index },
      element('bdi', {}, `${tokenText(text, false)} (${index + 1})`),
      bar(share),
      element('span', {}, `${share <= -0.005 ? '−' : ''}${percent(Math.abs(share))} %`),
      element('span', {}, `weight ${weight(value)}`),
    ),
  );
  return element(
    'section',
    {},
    element('h3', {}, 'Share of each key in that sum'),
    element('ol', { className: 'shares' }, ...entries),
  );
}

function bar(share) {
  const made = element('i', { className: share < 0 ? 'negative' : '' });
  made.style.transform = `scaleX(${Math.min(1, Math.abs(share))})`;
  return made;
}
