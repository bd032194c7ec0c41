// The model view: every head of every layer as a small map; one click opens it, another switches it
// off, and all maps are then those of what is written without it.
import { palette, pixelsOf } from './colours.js';
import { getThumbnails } from './api.js';
import { choice, element } from './dom.js';
import { headsIn, toggled, withoutHeads } from './knock_out.js';
import { latest } from './latest.js';
import { endsOf, layersOf, nameOf, pairsOf } from './pairs.js';
import { escape, svgDocument, tag } from './markup.js';
import { pixelsSvg } from './vector.js';

const size = 32; // cells of a small map, at most

/** @param {import('./main.js').App} app */
export function overview(app) {
  const controls = element('div');
  let offered = ''; // the pairs among which one can choose
  let pairs = { choose() {} };
  const showPairs = (all, chosen) => {
    if (all.join() !== offered) {
      offered = all.join();
      pairs = choice(
        'Attention',
        all.map((pair) => [pair, nameOf(pair)]),
        (pair) => app.store.set({ pair, layer: 'mean' }),
      );
      controls.replaceChildren(...(all.length > 1 ? [pairs.node] : []));
    }
    pairs.choose(chosen);
  };
  const grid = element('div', {
    className: 'overview',
    role: 'grid',
    'aria-label': 'Heads by layer',
  });
  const load = latest(app, () => {
    shown = null;
    grid.replaceChildren();
  });
  let shown = null;
  const without = withoutHeads(app);
  /** @type {?import('./run.js').Run} what is written while some heads are off */
  let changed = null;
  const turn = (layer, head) => {
    const { store, model } = app;
    store.set({ out: toggled(model, store.state.out, layer, head) });
  };

  const show = (thumbnails, layers) => {
    shown = { ...thumbnails, layers };
    const { heads } = thumbnails;
    grid.style.setProperty('--heads', heads);
    const numbers = Array.from({ length: heads }, (_, head) =>
      element('span', { role: 'columnheader' }, `head ${head}`),
    );
    grid.replaceChildren(
      element('div', { role: 'row', className: 'numbers' }, element('span'), ...numbers),
      ...layers.map((layer, index) => {
        const cells = Array.from({ length: layer.heads }, (_, head) =>
          cell(app, shown, index, head, turn),
        );
        return element(
          'div',
          { role: 'row' },
          element('span', { role: 'rowheader', className: 'layer' }, layer.name),
          ...cells,
        );
      }),
    );
    mark(grid, shown, app.selection);
    markOff(grid, shown, headsIn(app.model, app.store.state.out));
    const first = grid.querySelector('[aria-current=true]') ?? grid.querySelector('button');
    const next = focused ? grid.querySelector(focused) : null;
    if (next ?? first) (next ?? first).tabIndex = 0;
    next?.focus({ preventScroll: true });
    focused = '';
  };
  let focused = ''; // the map that was switched by keyboard, to be found again
  const follow = () => {
    const { run, selection, model } = app;
    const { path } = app.store.state;
    const [of, along] = changed ? [changed, ''] : [run, path];
    load(
      JSON.stringify([of.id, selection.pair, along]),
      () => getThumbnails(of.number, endsOf(selection.pair), size, along),
      (loaded) => show(loaded, layersOf(model, selection.pair)),
    );
  };
  grid.addEventListener('keydown', (event) => {
    const from = event.target.closest('[data-head]');
    if (event.key !== 'x' || !from || event.ctrlKey || event.metaKey || event.altKey)
      return walk(grid, event);
    const { layer, head } = from.dataset;
    focused = `button[data-layer="${layer}"][data-head="${head}"]`;
    turn(shown.layers[Number(layer)].name, Number(head));
    event.preventDefault();
    event.stopPropagation();
  });
  return {
    controls,
    node: element(
      'div',
      {},
      element(
        'p',
        { className: 'hint' },
        'Each map is scaled to its largest weight. The number below it is the mean entropy of its ' +
          'rows, in nats: a head of low entropy attends to few tokens. Switch heads off to see what ' +
          'the model writes without them, and how the other heads change.',
      ),
      without.node,
      grid,
    ),
    draw() {
      grid.querySelectorAll('canvas').forEach((canvas) => paint(canvas, shown));
    },
    update() {
      const { run, selection, model } = app;
      showPairs(pairsOf(model), selection.pair);
      const heads = headsIn(model, app.store.state.out);
      without.update((other) => {
        if (other === changed) return;
        changed = other;
        if (other) follow();
      });
      if (!run.done) return load.reset();
      mark(grid, shown, selection);
      markOff(grid, shown, heads);
      if (!heads.length) changed = null;
      // The maps with all heads stand until those without some are known.
      if (!heads.length || changed) follow();
    },
    leave() {
      load.drop();
      without.leave();
    },
    export: () =>
      shown && {
        title: `all heads, ${nameOf(app.selection.pair)}`,
        svg: () => gridSvg(shown),
        data: plain(shown),
      },
  };
}

function cell(app, shown, layer, head, turn) {
  const { name } = shown.layers[layer];
  const entropy = entropyOf(shown, layer, head);
  const canvas = element('canvas', { width: shown.columns, height: shown.rows });
  canvas.dataset.place = layer * shown.heads + head;
  paint(canvas, shown);
  const button = element(
    'button',
    {
      type: 'button',
      tabIndex: -1,
      'aria-label': `${name}, head ${head}, entropy ${entropy}`,
      onclick: () => app.store.set({ ...placeToLook(app), layer: name, head: String(head) }),
    },
    canvas,
    element('small', {}, entropy),
  );
  Object.assign(button.dataset, { layer, head });
  const turned = element('button', {
    type: 'button',
    className: 'switch',
    role: 'switch',
    tabIndex: -1,
    'aria-label': `${name}, head ${head}`,
    onclick: () => turn(name, head),
  });
  return element('div', { role: 'gridcell' }, button, turned);
}

/** Where a map opens: beside what it was with all heads, while some are off. */
function placeToLook({ store, model }) {
  const isOff = headsIn(model, store.state.out).length > 0;
  return isOff ? { view: 'compare', compare: 'without' } : { view: 'matrix' };
}

/** Shows which heads are off. */
function markOff(grid, shown, heads) {
  grid.querySelectorAll('[data-head]').forEach((button) => {
    const { name } = shown.layers[Number(button.dataset.layer)];
    const isOff = heads.some(({ layer, head }) => layer === name && head === Number(button.dataset.head));
    const turned = button.nextSibling;
    button.parentNode.classList.toggle('is-off', isOff);
    turned.setAttribute('aria-checked', !isOff);
    turned.textContent = isOff ? 'off' : 'on';
  });
}

/** Marks the head that is chosen. */
function mark(grid, shown, { layer, head }) {
  grid.querySelectorAll('[data-head]').forEach((button) => {
    const isLayer = shown.layers[Number(button.dataset.layer)].name === layer;
    button.setAttribute('aria-current', isLayer && button.dataset.head === head);
  });
}

function entropyOf({ entropies, heads }, layer, head) {
  return entropies[layer * heads + head].toFixed(2);
}

function paint(canvas, shown) {
  const map = thumbnail(shown, Number(canvas.dataset.place));
  canvas.getContext('2d').putImageData(pixelsOf(map, shown.columns, shown.rows), 0, 0);
}

/** The bytes of one small map, and the largest of them. */
function thumbnail({ rows, columns, values }, place) {
  const bytes = values.subarray(place * rows * columns, (place + 1) * rows * columns);
  return { values: bytes, most: bytes.reduce((most, value) => Math.max(most, value), 1) };
}

/** Arrow keys walk over the grid. */
function walk(grid, event) {
  const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[
    event.key
  ];
  const from = document.activeElement.closest('[data-head]');
  if (!by || !from) return;
  const [layer, head] = [Number(from.dataset.layer) + by[0], Number(from.dataset.head) + by[1]];
  const next = grid.querySelector(`button[data-layer="${layer}"][data-head="${head}"]`);
  if (!next) return;
  from.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
  event.preventDefault();
}

function gridSvg(shown) {
  const { muted } = palette();
  const { rows, columns, heads, layers } = shown;
  const [side, pitch, left, top] = [64, 84, 140, 36];
  const small = (place, x, y) => {
    const scale = `scale(${side / columns} ${side / rows})`;
    const cells = pixelsSvg(thumbnail(shown, place), columns, rows);
    return tag('g', { transform: `translate(${x} ${y}) ${scale}` }, cells);
  };
  const body = layers.flatMap(({ name, heads: own }, layer) => {
    const y = top + layer * pitch;
    const title = tag('text', { x: 16, y: y + side / 2 + 4, fill: muted }, escape(name));
    const maps = Array.from({ length: own }, (_, head) => {
      const x = left + head * pitch;
      const entropy = entropyOf(shown, layer, head);
      const number = tag('text', { x, y: y + side + 13, fill: muted, 'font-size': 11 }, entropy);
      return small(layer * heads + head, x, y) + number;
    });
    return [title, ...maps];
  });
  const numbers = Array.from({ length: heads }, (_, head) =>
    tag('text', { x: left + head * pitch, y: top - 10, fill: muted }, `head ${head}`),
  );
  const [width, height] = [left + heads * pitch + 8, top + layers.length * pitch + 8];
  return svgDocument(width, height, ...numbers, ...body);
}

function plain(shown) {
  const { rows, columns, heads, layers, entropies } = shown;
  const maps = layers.flatMap(({ name, heads: own }, index) =>
    Array.from({ length: own }, (_, head) => ({
      layer: name,
      head,
      entropy: entropies[index * heads + head],
      bytes: Array.from(thumbnail(shown, index * heads + head).values),
    })),
  );
  return { rows, columns, maps };
}
