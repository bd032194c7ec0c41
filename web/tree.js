// The drawing of a search as a tree: a column a step, candidates kept and pruned. It only grows.
import { element, svg } from './dom.js';
import { tokenText } from './tokens.js';

const [stepWidth, rowHeight, edge] = [132, 24, 20];
const mostLetters = 9;

/** A tree that can be walked by arrow keys. */
export class Tree {
  #links = svg('g');
  #tokens = svg('g');
  /** @type {Map<number, SVGElement>} */
  #drawn = new Map();
  #depth = 0;
  #current = 0;

  /** @param {function(number): void} onChoose with the id of the node chosen */
  constructor(onChoose) {
    this.onChoose = onChoose;
    /** @type {?import('./run.js').Run} */
    this.run = null;
    this.drawing = svg('svg', { class: 'tree' }, this.#links, this.#tokens);
    this.node = element(
      'div',
      {
        className: 'scroller',
        tabIndex: 0,
        role: 'application',
        'aria-label':
          'Tree of the search. Arrow keys walk; Enter shows what a hypothesis looked at.',
      },
      this.drawing,
    );
    this.node.addEventListener('click', (event) => this.#click(event));
    this.node.addEventListener('keydown', (event) => this.#key(event));
  }

  /**
   * Draws what a run has grown since, and marks a path.
   * @param {import('./run.js').Run} run
   * @param {import('./run.js').Node[]} path
   */
  show(run, path) {
    if (run !== this.run) this.#clear(run);
    while (this.#depth + 1 < run.levels.length) this.#addLevel(run.levels[++this.#depth]);
    const tallest = run.levels.reduce((most, level) => Math.max(most, level.length), 1);
    this.drawing.setAttribute('width', edge * 2 + this.#depth * stepWidth);
    this.drawing.setAttribute('height', edge + tallest * rowHeight);
    const chosen = new Set(path.map((node) => node.id));
    for (const [id, node] of this.#drawn) node.classList.toggle('chosen', chosen.has(id));
    for (const link of this.#links.children)
      link.classList.toggle('chosen', chosen.has(Number(link.dataset.to)));
    if (!run.done) this.node.scrollLeft = this.node.scrollWidth;
  }

  #clear(run) {
    this.run = run;
    this.#depth = this.#current = 0;
    this.#drawn.clear();
    this.#links.replaceChildren();
    this.#tokens.replaceChildren();
  }

  #addLevel(level) {
    level.forEach((node, row) => {
      node.x = edge + (node.depth - 1) * stepWidth;
      node.y = edge + row * rowHeight;
      if (node.parent) this.#links.append(link(this.run.nodes.get(node.parent), node));
      this.#drawn.set(node.id, this.#tokens.appendChild(box(node)));
    });
  }

  #click(event) {
    const node = event.target.closest('[data-id]');
    if (!node) return;
    this.#moveTo(Number(node.dataset.id));
    this.onChoose(this.#current);
  }

  #key(event) {
    if (event.key === 'Enter' && this.#current) this.onChoose(this.#current);
    else if (event.key.startsWith('Arrow'))
      this.#moveTo(neighbour(this.run, this.#current, event.key));
    else return;
    event.preventDefault();
  }

  #moveTo(id) {
    this.#drawn.get(this.#current)?.classList.remove('current');
    this.#current = id;
    const node = this.#drawn.get(id);
    node?.classList.add('current');
    node?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
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

function box(node) {
  const letters = [...tokenText(node.token, false)];
  const text =
    letters.length > mostLetters
      ? letters.slice(0, mostLetters - 1).join('') + '…'
      : letters.join('');
  const probability = Math.exp(node.log_probability);
  return svg(
    'g',
    {
      class: node.kept ? 'kept' : 'pruned',
      'data-id': node.id,
      transform: `translate(${node.x} ${node.y})`,
    },
    svg(
      'title',
      {},
      `${node.token}  probability ${probability.toFixed(3)}, total ${node.total.toFixed(2)}`,
    ),
    svg('rect', { x: -6, y: -11, width: stepWidth - 30, height: 22, rx: 4 }),
    svg('text', { y: 4 }, text),
    svg(
      'text',
      { class: 'score', x: stepWidth - 42, y: 4, 'text-anchor': 'end' },
      (probability * 100).toFixed(0),
    ),
  );
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
