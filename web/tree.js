// Beam search as a tree: what was considered at each step, what was kept, and what it scored.
import { element, svg } from './dom.js';
import { latest } from './latest.js';
import { idsOf, loadMap } from './maps.js';
import { Matrix } from './matrix.js';
import { tokenText } from './tokens.js';
import { frozenSvg } from './vector.js';

const [stepWidth, rowHeight, edge] = [132, 24, 20];

/** @param {import('./main.js').App} app */
export function beamTree(app) {
  const links = svg('g');
  const tokens = svg('g');
  const drawing = svg('svg', { class: 'tree' }, links, tokens);
  const scroller = element('div', {
    className: 'scroller', tabIndex: 0, role: 'application',
    'aria-label': 'Tree of the search. Arrow keys walk; Enter shows what a hypothesis looked at.',
  }, drawing);
  const caption = element('p', { className: 'caption', dir: 'auto' });
  const matrix = new Matrix('Attention of the chosen hypothesis', { tallest: 0.5 });
  const load = latest(app.fail);
  /** @type {Map<number, SVGElement>} */
  const drawn = new Map();
  let [run, depth, current] = [null, 0, 0];

  const grow = () => {
    while (depth + 1 < run.levels.length) {
      const level = run.levels[++depth];
      level.forEach((node, row) => {
        node.x = edge + (depth - 1) * stepWidth;
        node.y = edge + row * rowHeight;
        const parent = run.nodes.get(node.parent);
        if (parent.id) links.append(link(parent, node));
        drawn.set(node.id, tokens.appendChild(nodeElement(node)));
      });
    }
    const tallest = run.levels.reduce((most, level) => Math.max(most, level.length), 1);
    drawing.setAttribute('width', edge * 2 + depth * stepWidth);
    drawing.setAttribute('height', edge + tallest * rowHeight);
    mark();
  };
  const mark = () => {
    const chosen = new Set(run.path(app.store.state.path).map((node) => node.id));
    for (const [id, node] of drawn) node.classList.toggle('chosen', chosen.has(id));
    for (const node of links.children) node.classList.toggle('chosen', chosen.has(Number(node.dataset.to)));
    if (!run.done) scroller.scrollLeft = scroller.scrollWidth;
  };
  const choose = (id) => {
    const path = idsOf(run.pathTo(run.leafBelow(id)));
    app.store.set({ path: path === idsOf(run.path()) ? '' : path });
    moveTo(id);
  };
  const moveTo = (id) => {
    drawn.get(current)?.classList.remove('current');
    current = id;
    const node = drawn.get(id);
    node?.classList.add('current');
    node?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };
  scroller.addEventListener('click', (event) => {
    const node = event.target.closest('[data-id]');
    if (node) choose(Number(node.dataset.id));
  });
  scroller.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && current) choose(current);
    else if (event.key.startsWith('Arrow')) moveTo(neighbour(run, current, event.key));
    else return;
    event.preventDefault();
  });

  const describe = () => {
    const path = run.path(app.store.state.path);
    const last = path.at(-1);
    const outcome = !last ? '' : last.ended ? 'ended' : last.kept ? 'kept' : 'pruned';
    caption.replaceChildren(element('bdi', {}, app.textOf(path)),
      last ? ` — total log probability ${last.total.toFixed(2)}, ${outcome}` : '');
  };
  return {
    node: element('div', { className: 'beam' },
      element('p', { className: 'hint' }, 'Each column is a step. Kept candidates go on, the others were pruned. Choose one to see what it looked at.'),
      scroller, caption, matrix.node),
    draw: () => matrix.draw(),
    update() {
      if (run !== app.run) {
        run = app.run;
        [depth, current] = [0, 0];
        links.replaceChildren();
        tokens.replaceChildren();
        drawn.clear();
      }
      grow();
      describe();
      const { selection, model } = app;
      const { path } = app.store.state;
      matrix.node.hidden = !model.layers.length;
      if (!run.done || !model.layers.length) return;
      load(JSON.stringify([run.id, selection, path]), () => loadMap(run, selection, path), (map) => matrix.show(map));
    },
    export: () => run && {
      title: 'beam search',
      svg: () => frozenSvg([drawing]),
      data: { nodes: [...run.nodes.values()].filter(({ id }) => id).map(({ children, row, x, y, ...node }) => node) },
    },
  };
}

function link(parent, node) {
  const [from, to] = [parent.x + stepWidth - 34, node.x - 6];
  const middle = (from + to) / 2;
  return svg('path', {
    class: node.kept ? 'kept' : 'pruned',
    'data-to': node.id,
    d: `M${from} ${parent.y}C${middle} ${parent.y} ${middle} ${node.y} ${to} ${node.y}`,
  });
}

function nodeElement(node) {
  const letters = [...tokenText(node.token, false)];
  const text = letters.length > 9 ? letters.slice(0, 8).join('') + '…' : letters.join('');
  const probability = Math.exp(node.log_probability);
  return svg('g', { class: node.kept ? 'kept' : 'pruned', 'data-id': node.id, transform: `translate(${node.x} ${node.y})` },
    svg('title', {}, `${node.token}  probability ${probability.toFixed(3)}, total ${node.total.toFixed(2)}`),
    svg('rect', { x: -6, y: -11, width: stepWidth - 30, height: 22, rx: 4 }),
    svg('text', { y: 4 }, text),
    svg('text', { class: 'score', x: stepWidth - 42, y: 4, 'text-anchor': 'end' }, (probability * 100).toFixed(0)));
}

/** The node an arrow key leads to. */
function neighbour(run, id, key) {
  if (!id) return run.levels[1]?.[0].id ?? 0;
  const node = run.nodes.get(id);
  if (key === 'ArrowLeft') return node.parent || id;
  if (key === 'ArrowRight') return node.children[0]?.id ?? id;
  const level = run.levels[node.depth];
  return level[level.indexOf(node) + (key === 'ArrowUp' ? -1 : 1)]?.id ?? id;
}
