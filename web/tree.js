// The drawing of a search as a tree: a column a step, candidates kept and pruned. It only grows.
import { element, svg } from './dom.js';
import { percent, total, weight } from './numbers.js';
import { fitted } from './paint.js';
import { choiceText } from './tokens.js';

const [stepWidth, rowHeight, edge] = [178, 24, 20];
const [boxWidth, scoreAt, totalAt] = [148, 90, 136]; // numbers end there
const labelWidth = 58;

/** A tree that can be walked by arrow keys. Only the steps in sight are in the document. */
export class Tree {
  /** @type {Map<number, SVGElement>} the columns that are drawn, by depth */
  #columns = new Map();
  #chosen = new Set();
  #current = 0;

  /**
   * @param {{onChoose: function(number): void, onMove: function(import('./run.js').Node): void}}
   *   listeners called with the id of the node chosen, and with the node a key has led to
   */
  constructor({ onChoose, onMove }) {
    this.onChoose = onChoose;
    this.onMove = onMove;
    /** @type {?import('./run.js').Run} */
    this.run = null;
    this.drawing = svg('svg', { class: 'tree' });
    this.node = element(
      'div',
      {
        className: 'scroller',
        tabIndex: 0,
        role: 'application',
        'aria-label':
          'Search tree. Move with the arrow keys; press Enter to see the attention of a hypothesis.',
      },
      this.drawing,
    );
    this.node.addEventListener('click', (event) => this.#click(event));
    this.node.addEventListener('keydown', (event) => this.#key(event));
    this.node.addEventListener('scroll', () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.node);
  }

  /**
   * Draws a run as far as it has grown, with a path marked.
   * @param {import('./run.js').Run} run
   * @param {import('./run.js').Node[]} path
   */
  show(run, path) {
    if (run !== this.run) {
      this.run = run;
      this.#current = 0;
      this.#clear();
    }
    this.#chosen = new Set(path.map((node) => node.id));
    const tallest = run.levels.reduce((most, level) => Math.max(most, level.length), 1);
    this.drawing.setAttribute('width', edge * 2 + (run.levels.length - 1) * stepWidth);
    this.drawing.setAttribute('height', edge + tallest * rowHeight);
    if (!run.done) this.node.scrollLeft = this.node.scrollWidth;
    this.draw();
  }

  /** Draws the columns in sight, and drops the others. */
  draw() {
    const { scrollLeft, clientWidth } = this.node;
    this.#drawLevels(scrollLeft / stepWidth, (scrollLeft + clientWidth) / stepWidth + 1);
  }

  /** Calls a function while the whole tree is drawn. */
  whole(use) {
    this.#drawLevels(1, Infinity);
    const result = use(this.drawing);
    this.draw();
    return result;
  }

  #drawLevels(first, last) {
    if (!this.run) return;
    for (const [depth, column] of this.#columns) {
      if (depth >= first && depth <= last) continue;
      column.remove();
      this.#columns.delete(depth);
    }
    this.run.levels.forEach((level, depth) => {
      if (depth < Math.max(1, first) || depth > last || this.#columns.has(depth)) return;
      this.#columns.set(depth, this.drawing.appendChild(this.#column(level)));
    });
    this.#mark();
  }

  #column(level) {
    const links = level.filter(({ parent }) => parent).map((node) => this.#link(node));
    const { tokenizer } = this.run;
    const boxes = level.map((node, row) => box(node, tokenizer, placeOf(node, row)));
    return svg('g', {}, ...links, ...boxes);
  }

  #link(node) {
    const parent = this.run.nodes.get(node.parent);
    const from = placeOf(parent, this.run.levels[parent.depth].indexOf(parent));
    return link(node, from, placeOf(node, this.run.levels[node.depth].indexOf(node)));
  }

  #mark() {
    for (const part of this.drawing.querySelectorAll('[data-id]')) {
      const id = Number(part.dataset.id);
      part.classList.toggle('chosen', this.#chosen.has(id));
      part.classList.toggle('current', id === this.#current);
    }
  }

  #clear() {
    this.#columns.clear();
    this.drawing.replaceChildren();
  }

  #click(event) {
    const node = event.target.closest('g[data-id]');
    if (!node) return;
    this.#moveTo(Number(node.dataset.id));
    this.onChoose(this.#current);
  }

  #key(event) {
    if (!this.run) return;
    if (event.key === 'Enter' && this.#current) this.onChoose(this.#current);
    else if (event.key.startsWith('Arrow')) this.#walk(event.key);
    else return;
    event.preventDefault();
  }

  #walk(key) {
    this.#moveTo(neighbour(this.run, this.#current, key));
    if (this.#current) this.onMove(this.run.nodes.get(this.#current));
  }

  #moveTo(id) {
    this.#current = id;
    const { x } = placeOf(this.run.nodes.get(id), 0);
    const { scrollLeft, clientWidth } = this.node;
    if (x < scrollLeft + edge || x + stepWidth > scrollLeft + clientWidth)
      this.node.scrollLeft = x - clientWidth / 2;
    this.draw();
    this.drawing
      .querySelector('g.current')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
}

/** Where a node is, in the row of its column. */
function placeOf(node, row) {
  return { x: edge + (node.depth - 1) * stepWidth, y: edge + row * rowHeight };
}

function link(node, from, to) {
  const [start, end] = [from.x + boxWidth - 4, to.x - 6];
  const middle = (start + end) / 2;
  return svg('path', {
    class: node.kept ? 'kept' : 'pruned',
    'data-id': node.id,
    d: `M${start} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${end} ${to.y}`,
  });
}

function box(node, tokenizer, { x, y }) {
  const probability = Math.exp(node.log_probability);
  const token = choiceText(node.token, tokenizer);
  const score = (x, text) => svg('text', { class: 'score', x, y: 4, 'text-anchor': 'end' }, text);
  return svg(
    'g',
    {
      class: node.kept ? 'kept' : 'pruned',
      'data-id': node.id,
      transform: `translate(${x} ${y})`,
    },
    svg(
      'title',
      {},
      `${token}  probability ${weight(probability)}, total ${total(node.total)}`,
    ),
    svg('rect', { x: -6, y: -11, width: boxWidth, height: 22, rx: 4 }),
    svg('text', { y: 4 }, fitted(token, labelWidth)),
    score(scoreAt, percent(probability)),
    score(totalAt, total(node.total)),
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
