// The logit lens: what each layer would write next, by the model's own output layer.
import { getLens } from './api.js';
import { colourer, inkOn, palette } from './colours.js';
import { choice, element } from './dom.js';
import { latest } from './latest.js';
import { escape, svgDocument, tag } from './markup.js';
import { percent, weight } from './numbers.js';
import { fitted } from './paint.js';
import { choiceText, tokenTexts } from './tokens.js';

const mostShown = 256; // positions; the last ones of a longer text
const arrows = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const shades = [
  ['likeliest', 'likeliest token'],
  ['written', 'token that follows'],
];

/**
 * @typedef {{likeliest: Array<[string, number]>, probability: number, rank: number}} LensCell
 * @typedef {{stages: string[], items: string[], written: string[], cells: LensCell[][]}} Lens
 */

/** @param {import('./main.js').App} app */
export function lensView(app) {
  const { store } = app;
  const shade = choice('Shade by', shades, (shade) => store.set({ shade }));
  const hint = element('p', { className: 'hint' });
  const table = element('table', { className: 'lens', role: 'grid' });
  const panel = element('aside', { className: 'readout lens-cell', 'aria-live': 'polite' });
  /** @type {?Lens} */
  let lens = null;
  let tokenizer = '';
  const load = latest(app, () => {
    lens = null;
    table.replaceChildren();
    panel.replaceChildren();
    hint.textContent = '';
  });

  const paint = () => {
    if (!lens) return;
    const { shade: by, stage, position } = store.state;
    shade.choose(by);
    const colour = colourer({ most: 1 });
    for (const cell of table.querySelectorAll('td[data-stage]')) {
      const one = cellOf(lens, cell);
      const background = colour(by === 'written' ? one.probability : (one.likeliest[0]?.[1] ?? 0));
      cell.style.background = background;
      cell.style.color = inkOn(background);
      const isChosen = isAt(cell, stage, position);
      cell.setAttribute('aria-selected', isChosen);
      cell.tabIndex = isChosen ? 0 : -1;
    }
    if (!table.querySelector('td[tabindex="0"]')) table.querySelector('td[data-stage]').tabIndex = 0;
    describe(panel, lens, stage, position, tokenizer);
  };
  const choose = (stage, position) => store.set({ stage, position });
  const show = (loaded, kind) => {
    [lens, tokenizer] = [loaded, kind];
    const first = Math.max(0, lens.items.length - mostShown);
    hint.textContent =
      'Each row is a layer, the last one on top. Each cell has the token that the model would write ' +
      'if its output layer read that layer. The output layer was trained to read the last layer ' +
      'only: take what it makes of the others as a hint.' +
      (first ? ` These are the last ${mostShown} of ${lens.items.length} positions.` : '');
    table.replaceChildren(...rowsOf(lens, first, tokenizer));
    paint();
    const { stage, position } = store.state;
    find(table, stage, position)?.scrollIntoView({ block: 'nearest', inline: 'center' });
  };
  table.addEventListener('click', ({ target }) => {
    const cell = target.closest('td[data-stage]');
    if (cell) choose(...placeOf(cell));
  });
  table.addEventListener('pointerover', ({ target }) => {
    const cell = target.closest('td[data-stage]');
    if (cell) describe(panel, lens, ...placeOf(cell), tokenizer);
  });
  table.addEventListener('pointerleave', () => {
    if (lens) describe(panel, lens, store.state.stage, store.state.position, tokenizer);
  });
  table.addEventListener('keydown', (event) => {
    const by = arrows[event.key];
    const cell = event.target.closest('td[data-stage]');
    if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
    const [stage, position] = placeOf(cell);
    if (event.key === 'Enter') choose(stage, position);
    else if (event.key === 'Escape') choose(-1, -1);
    else if (by) {
      const next = find(table, stage + by[0], position + by[1]);
      if (!next) return;
      choose(...placeOf(next));
      next.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return {
    controls: element('div', { className: 'field' }, element('span', {}, 'Shade by'), shade.node),
    node: element(
      'div',
      {},
      hint,
      element(
        'div',
        { className: 'beside lens-beside' },
        element('div', { className: 'stage lens-scroll' }, table),
        panel,
      ),
    ),
    draw: paint,
    update() {
      const { run } = app;
      const { path } = store.state;
      if (!run.done) return load.reset();
      load(
        JSON.stringify([run.id, path]),
        () => getLens(run.number, path),
        (loaded) => show(loaded, run.tokenizer),
      );
      paint();
    },
    leave: load.drop,
    export: () =>
      lens && {
        title: 'logit lens',
        svg: () => lensSvg(lens, tokenizer, store.state.shade),
        data: lens,
      },
  };
}

const placeOf = ({ dataset }) => [Number(dataset.stage), Number(dataset.position)];
const isAt = (cell, stage, position) => placeOf(cell).join() === [stage, position].join();
const cellOf = (lens, cell) => {
  const [stage, position] = placeOf(cell);
  return lens.cells[stage][position];
};
const find = (table, stage, position) =>
  table.querySelector(`td[data-stage="${stage}"][data-position="${position}"]`);

/** A token as a cell has it; the mark of a word's beginning is a space that can be seen. */
const shownAs = (token, tokenizer) => (token ? choiceText(token, tokenizer) : '');

function rowsOf(lens, first, tokenizer) {
  const last = lens.stages.length - 1;
  const rows = lens.stages.map((_, i) => {
    const stage = last - i;
    const cells = lens.cells[stage].slice(first).map((cell, j) => {
      const [token] = cell.likeliest[0] ?? [''];
      const td = element(
        'td',
        { className: cell.rank === 1 ? 'right' : '', role: 'gridcell' },
        element('bdi', {}, shownAs(token, tokenizer)),
      );
      Object.assign(td.dataset, { stage, position: first + j });
      return td;
    });
    return element('tr', {}, element('th', { scope: 'row' }, lens.stages[stage]), ...cells);
  });
  const plain = (name, tokens) =>
    element(
      'tr',
      { className: 'tokens' },
      element('th', { scope: 'row' }, name),
      ...tokenTexts(tokens)
        .slice(first)
        .map((token) => element('td', {}, element('bdi', {}, token))),
    );
  return [
    element('tbody', {}, ...rows),
    element('tfoot', {}, plain('reads', lens.items), plain('next', lens.written)),
  ];
}

/** The likeliest tokens of a cell, and how likely the one is that follows. */
function describe(panel, lens, stage, position, tokenizer) {
  const cell = lens.cells[stage]?.[position];
  panel.classList.toggle('empty', !cell);
  if (!cell) {
    panel.replaceChildren(
      element('p', { className: 'pair' }, 'Point at a cell to see its likeliest tokens, or move with the arrow keys.'),
    );
    return;
  }
  const bars = cell.likeliest.map(([token, probability]) => {
    const bar = element('i');
    bar.style.transform = `scaleX(${probability})`;
    const name = element('bdi', {}, shownAs(token, tokenizer));
    return element('li', {}, name, bar, element('span', {}, `${percent(probability)} %`));
  });
  panel.replaceChildren(
    element('p', { className: 'pair' }, `${lens.stages[stage]}, position ${position + 1}`),
    element('h3', {}, 'would write'),
    element('ol', {}, ...bars),
    element(
      'p',
      { className: 'follows' },
      element('bdi', {}, shownAs(lens.written[position], tokenizer)),
      ` follows: rank ${cell.rank}, probability ${weight(cell.probability)}`,
    ),
  );
}

function lensSvg(lens, tokenizer, by) {
  const { ink, muted } = palette();
  const colour = colourer({ most: 1 });
  const [left, top, across, down] = [110, 16, 76, 22];
  const last = lens.stages.length - 1;
  const text = (content, x, y, fill, anchor = 'middle') =>
    tag('text', { x, y, fill, 'text-anchor': anchor }, escape(fitted(content, across - 8)));
  const rows = lens.stages.flatMap((name, stage) => {
    const y = top + (last - stage) * down;
    const cells = lens.cells[stage].map((cell, i) => {
      const [token, most] = cell.likeliest[0] ?? ['', 0];
      const fill = colour(by === 'written' ? cell.probability : most);
      const x = left + i * across;
      return (
        tag('rect', { x, y, width: across - 1, height: down - 1, fill }) +
        text(shownAs(token, tokenizer), x + across / 2, y + 15, inkOn(fill))
      );
    });
    const title = tag('text', { x: left - 8, y: y + 15, fill: muted, 'text-anchor': 'end' }, escape(name));
    return [title, ...cells];
  });
  const plain = (name, tokens, line) => {
    const y = top + line * down + 15;
    return [
      tag('text', { x: left - 8, y, fill: muted, 'text-anchor': 'end' }, name),
      ...tokenTexts(tokens).map((token, i) => text(token, left + (i + 0.5) * across, y, ink)),
    ];
  };
  const lines = lens.stages.length;
  return svgDocument(
    left + lens.items.length * across + 16,
    top + (lines + 2) * down + 16,
    ...rows,
    ...plain('reads', lens.items, lines),
    ...plain('next', lens.written, lines + 1),
  );
}
