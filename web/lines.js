// Two columns of tokens and lines between them, as thick as the weights. Only what is in sight is
// painted; the token in focus has a canvas of its own.
import { palette } from './colours.js';
import { element, roomBelow } from './dom.js';
import { fitted, font, resize, shortLabels } from './paint.js';

const [pitch, leastPitch] = [26, 15]; // between tokens, where there is room and where there is not
const faintest = 0.04; // of the largest weight; thinner lines are not drawn
const mostLines = { all: 6000, focus: 128 }; // the strongest, of all tokens together and of one
const shades = 12; // lines of about the same weight are painted together

/** @typedef {'rows'|'columns'} Side */

/** The lines of one map. */
export class Lines {
  #labels = { rows: [], columns: [] };
  #all = []; // the lines of all tokens together
  #layout = null;
  #pinned = { side: 'rows', index: -1 };

  /**
   * @param {{onPoint: function(Side, number): void, onPin: function(Side, number): void,
   *   onSpare: function(number): void}} listeners called when the focus moves, when a token is
   *   chosen, and with the width left unused
   */
  constructor({ onPoint, onPin, onSpare }) {
    this.onPoint = onPoint;
    this.onPin = onPin;
    this.onSpare = onSpare;
    this.lines = element('canvas');
    this.focus = element('canvas', { className: 'cursor' });
    this.spacer = element('div');
    this.names = [element('span'), element('span')];
    this.sides = element('div', { className: 'sides' }, ...this.names);
    this.node = element(
      'div',
      {
        className: 'heads',
        tabIndex: 0,
        role: 'application',
        'aria-label':
          'Lines between tokens. Up and down move through the tokens, left and right change the side.',
      },
      element('div', { className: 'sheet' }, this.lines, this.focus),
      this.spacer,
    );
    /** @type {?import('./maps.js').HeatMap} */
    this.map = null;
    this.#listen();
  }

  /** @param {import('./maps.js').HeatMap} map */
  show(map) {
    this.map = map;
    const { rows = '', columns = '' } = map.axes ?? {};
    [this.names[0].textContent, this.names[1].textContent] = [rows, columns];
    this.draw();
  }

  /** Takes the map away. */
  clear() {
    [this.map, this.#layout, this.#all] = [null, null, []];
    for (const name of this.names) name.textContent = '';
    this.spacer.style.height = '';
    for (const canvas of [this.lines, this.focus]) resize(canvas, 0, 0);
  }

  /** Draws again: the size or the colours have changed. */
  draw() {
    const { node, map } = this;
    if (!map || !node.clientWidth) return;
    const around = pitch + roomBelow();
    const below = innerHeight - (node.getBoundingClientRect().top + scrollY) - around;
    const most = Math.max(innerHeight * 0.5, below);
    this.#layout = layoutOf(map, node.clientWidth, most);
    this.#labels = labelsOf(map, this.#layout);
    this.#all = linesOf(map, this.#layout);
    this.spacer.style.height = `${this.#layout.height}px`;
    const inSight = Math.min(this.#layout.height, most);
    node.style.height = `${inSight}px`;
    for (const canvas of [this.lines, this.focus]) resize(canvas, node.clientWidth, inSight);
    this.onSpare(node.parentElement.clientWidth - node.offsetWidth);
    this.sides.style.setProperty('--side', `${this.#layout.left}px`);
    this.#paint();
  }

  /** Puts the focus on a token; -1 for none. */
  point(side, index) {
    if (!this.#layout) return;
    const context = this.#context(this.focus);
    if (index >= 0 && index < this.map[side].length) this.#paintFocus(context, side, index);
    this.onPoint(side, index);
  }

  /** Keeps the focus on a token. */
  pin(side, index) {
    this.#pinned = { side, index };
    this.point(side, index);
  }

  #context(canvas) {
    const context = canvas.getContext('2d');
    const { scrollTop } = this.node;
    context.setTransform(
      devicePixelRatio,
      0,
      0,
      devicePixelRatio,
      0,
      -scrollTop * devicePixelRatio,
    );
    context.clearRect(0, scrollTop, this.#layout.width, this.#layout.height);
    context.font = font;
    context.textBaseline = 'middle';
    return context;
  }

  #paint() {
    const context = this.#context(this.lines);
    const { accent, muted } = palette();
    context.strokeStyle = accent;
    this.#stroke(context, this.#all);
    context.fillStyle = muted;
    for (const side of ['rows', 'columns']) this.#paintTokens(context, side);
    this.point(this.#pinned.side, this.#pinned.index);
  }

  /** The token in focus and its lines, over the others dimmed. */
  #paintFocus(context, side, index) {
    const { left, right } = this.#layout;
    const { paper, accent, ink } = palette();
    context.fillStyle = paper;
    context.globalAlpha = 0.86;
    context.fillRect(left, this.node.scrollTop, right - left, this.node.clientHeight);
    context.strokeStyle = accent;
    context.fillStyle = ink;
    for (const from of sidesOf(this.map, side)) {
      const to = from === 'rows' ? 'columns' : 'rows';
      const lines = linesOf(this.map, this.#layout, { [from]: index });
      this.#stroke(context, lines);
      this.#paintTokens(context, to, new Set(lines.map((line) => line[to])));
    }
    context.fillStyle = accent;
    for (const from of sidesOf(this.map, side))
      this.#paintTokens(context, from, new Set([index]));
  }

  /** Lines in sight; those of about the same weight at once. */
  #stroke(context, lines) {
    const { left, right } = this.#layout;
    const [from, to] = this.#inSight();
    const bend = (right - left) * 0.4;
    const paths = Array.from({ length: shades }, () => null);
    for (const { weight, y1, y2 } of lines) {
      if (Math.max(y1, y2) < from || Math.min(y1, y2) > to) continue;
      const path = (paths[Math.ceil(weight * shades) - 1] ??= new Path2D());
      path.moveTo(left + 4, y1);
      path.bezierCurveTo(left + bend, y1, right - bend, y2, right - 4, y2);
    }
    paths.forEach((path, shade) => {
      if (!path) return;
      const weight = (shade + 0.5) / shades;
      context.globalAlpha = weight;
      context.lineWidth = 0.5 + 2.5 * weight;
      context.stroke(path);
    });
  }

  /** Tokens in sight, or those of them that are named. */
  #paintTokens(context, side, only = null) {
    const { left, right, [side]: height } = this.#layout;
    const [from, to] = this.#inSight();
    const last = Math.min(this.#labels[side].length, Math.ceil(to / height));
    context.globalAlpha = 1;
    context.textAlign = side === 'rows' ? 'right' : 'left';
    for (let index = Math.floor(from / height); index < last; ++index)
      if (!only || only.has(index))
        context.fillText(
          this.#labels[side][index],
          side === 'rows' ? left - 4 : right + 4,
          (index + 0.5) * height,
        );
  }

  /** From where to where the sheet can be seen. */
  #inSight() {
    return [this.node.scrollTop, this.node.scrollTop + this.node.clientHeight];
  }

  #tokenAt(event) {
    const box = this.node.getBoundingClientRect();
    const side = event.clientX - box.left < this.#layout.width / 2 ? 'rows' : 'columns';
    const index = Math.floor((event.clientY - box.top + this.node.scrollTop) / this.#layout[side]);
    return [side, Math.min(this.map[side].length - 1, index)];
  }

  #listen() {
    const { node } = this;
    new ResizeObserver(() => this.draw()).observe(node);
    node.addEventListener(
      'pointermove',
      (event) => this.#layout && this.point(...this.#tokenAt(event)),
    );
    node.addEventListener('pointerleave', () => this.point(this.#pinned.side, this.#pinned.index));
    node.addEventListener(
      'click',
      (event) => this.#layout && this.#moveTo(...this.#tokenAt(event)),
    );
    node.addEventListener('keydown', (event) => this.#layout && this.#key(event));
    node.addEventListener('scroll', () => this.#layout && this.#paint());
  }

  #key(event) {
    const { side, index } = this.#pinned;
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const across = { ArrowLeft: 'rows', ArrowRight: 'columns' }[event.key];
    if (by) this.#moveTo(side, Math.max(0, Math.min(this.map[side].length - 1, index + by)));
    else if (across)
      this.#moveTo(
        across,
        Math.floor(((Math.max(0, index) + 0.5) * this.#layout[side]) / this.#layout[across]),
      );
    else if (event.key === 'Escape') this.#moveTo(side, -1);
    else return;
    event.preventDefault();
  }

  #moveTo(side, index) {
    const { node } = this;
    const y = this.#layout[side] * (index + 0.5);
    if (index >= 0 && (y < node.scrollTop || y > node.scrollTop + node.clientHeight))
      node.scrollTop = y - node.clientHeight / 2;
    this.pin(side, index);
    this.onPin(side, index);
  }
}

/** The labels of a map, as much of each as has room beside the lines. */
export function labelsOf(map, { left }) {
  const { rows, columns } = shortLabels(map);
  const cut = (labels) => labels.map((text) => fitted(text, left - 8));
  return { rows: cut(rows), columns: cut(columns) };
}

/**
 * Where tokens and lines are. Both columns of tokens take the whole height, which is no more than
 * `most` while tokens can be read.
 */
export function layoutOf(map, width, most = Infinity) {
  const longest = Math.max(map.rows.length, map.columns.length);
  const height = longest * Math.max(leastPitch, Math.min(pitch, Math.floor(most / longest)));
  const left = Math.min(150, width * 0.32);
  return {
    width,
    height,
    left,
    right: width - left,
    rows: height / map.rows.length,
    columns: height / map.columns.length,
  };
}

/**
 * The lines worth drawing, of all tokens or of one row or column.
 * @returns {Array<{rows: number, columns: number, weight: number, y1: number, y2: number}>}
 */
export function linesOf(map, layout, only = {}) {
  const range = (index, count) => (index === undefined ? [0, count] : [index, index + 1]);
  const width = map.columns.length;
  const [firstRow, endRow] = range(only.rows, map.rows.length);
  const [firstColumn, endColumn] = range(only.columns, width);
  const sizes = new Float32Array((endRow - firstRow) * (endColumn - firstColumn));
  let filled = 0;
  for (let row = firstRow; row < endRow; ++row)
    for (let column = firstColumn; column < endColumn; ++column)
      sizes[filled++] = Math.abs(map.values[row * width + column]) / (map.most || 1);
  const isWhole = sizes.length === map.values.length;
  const most = isWhole ? mostLines.all : mostLines.focus;
  const least = leastOf(sizes, most);
  const lines = [];
  sizes.forEach((weight, i) => {
    if (weight < least || lines.length >= most) return; // many may be equal
    const rows = firstRow + Math.floor(i / (endColumn - firstColumn));
    const columns = firstColumn + (i % (endColumn - firstColumn));
    const [y1, y2] = [(rows + 0.5) * layout.rows, (columns + 0.5) * layout.columns];
    lines.push({ rows, columns, weight, y1, y2 });
  });
  return lines;
}

/** The least weight that is drawn, so that the lines are not too many. */
function leastOf(weights, most) {
  if (weights.length <= most) return faintest;
  return Math.max(faintest, weights.toSorted().at(-most));
}

/** Whether lines may be left out that would be drawn if there were fewer. */
export function isCrowded({ rows, columns, values }) {
  return values.length > mostLines.all || Math.max(rows.length, columns.length) > mostLines.focus;
}

/** The sides on which a token stands: both, in a sequence that looks at itself. */
export function sidesOf(map, side) {
  return map.isSelf ? ['rows', 'columns'] : [side];
}
