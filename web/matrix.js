// A heat map that can be looked around in: hover, click, arrow keys, zoom by wheel, pinch or key.
import { element, roomBelow } from './dom.js';
import {
  mostOf,
  noRoom,
  paintCursor,
  paintMap,
  resize,
  roomForLabels,
  shortLabels,
} from './paint.js';

const largestCell = 40;
const largestZoomed = 80;
const readableCell = 22; // a label has room beside it
const smallestCell = 7; // of whole pixels; smaller ones are fractions
const legendHeight = 64;
const longFrom = 64; // rows; a longer map gets nearly the whole window
const arrows = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** One map on canvas. The cells are on one canvas, the cursor on another above it. */
export class Matrix {
  #labels = { rows: [], columns: [] };
  #room = null;
  #layout = null;
  #square = 1; // the side of a cell that lets the whole map be seen
  #zoom = 1;
  #pinned = { row: -1, column: -1 };
  #pointers = new Map();

  /**
   * @param {string} label what it shows, for those who do not see it
   * @param {{onPoint?: function(number, number): void, onPin?: function(number, number): void,
   *   onEnter?: function(): void,
   *   onSpare?: function(number): void, onZoom?: function(): void, tallest?: number}} [options]
   *   called when the cursor moves, when a cell is chosen, when one asks for more of it, with the width left unused, and when the
   *   map is enlarged; the share of the window that the map may always be high
   */
  constructor(label, { onPoint, onPin, onEnter, onSpare, onZoom, tallest = 0.5 } = {}) {
    const nothing = () => {};
    this.onPoint = onPoint ?? nothing;
    this.onPin = onPin ?? nothing;
    this.onEnter = onEnter;
    this.onSpare = onSpare ?? nothing;
    this.onZoom = onZoom ?? nothing;
    this.tallest = tallest;
    this.cells = element('canvas');
    this.cursor = element('canvas', { className: 'cursor' });
    this.node = element(
      'div',
      { className: 'matrix', tabIndex: 0, role: 'application', 'aria-label': label },
      this.cells,
      this.cursor,
    );
    /** @type {?import('./maps.js').HeatMap} */
    this.map = null;
    /** The least room for labels: maps side by side have the same. */
    this.margins = noRoom;
    this.#listen();
  }

  /**
   * Draws a map. The place and zoom stay when its size does.
   * @param {import('./maps.js').HeatMap} map
   */
  show(map) {
    const sameSize =
      this.map?.rows.length === map.rows.length && this.map?.columns.length === map.columns.length;
    const wasZoomed = this.#zoom > 1;
    if (!sameSize && !map.room) this.#zoom = 1;
    this.map = map;
    this.#labels = shortLabels(map);
    this.#room = roomForLabels(this.#labels, map.axes);
    this.draw();
    if (wasZoomed && this.#zoom === 1) this.onZoom();
  }

  /** Takes the map away. */
  clear() {
    [this.map, this.#layout] = [null, null];
    for (const canvas of [this.cells, this.cursor]) resize(canvas, 0, 0);
  }

  /** Draws again: the size or the colours have changed. */
  draw() {
    if (!this.map || !this.node.clientWidth) return;
    this.#place();
    paintMap(this.#context(this.cells), this.map, this.#layout, this.#labels);
    this.point(this.#pinned.row, this.#pinned.column);
  }

  /** Puts the cursor on a cell; -1 for none. */
  point(row, column) {
    if (!this.map || !this.#layout) return;
    if (row >= this.map.rows.length) row = -1;
    if (column >= this.map.columns.length) column = -1;
    paintCursor(this.#context(this.cursor), this.#layout, this.#labels, row, column);
  }

  /** Keeps the cursor on a cell. */
  pin(row, column) {
    this.#pinned = { row, column };
    this.point(row, column);
  }

  /** Enlarges, about the point (x, y) of the node. */
  zoom(factor, x, y) {
    if (!this.#layout) return;
    const { left, top, across, down, x: scrolledX, y: scrolledY } = this.#layout;
    const [column, row] = [(x - left + scrolledX) / across, (y - top + scrolledY) / down];
    const wanted = Math.min(this.#mostZoom(), this.#zoom * factor);
    this.#zoom = wanted < 1.01 ? 1 : wanted; // 1.5 times and back by 0.6667 is all of it again
    this.#place();
    this.#layout.x = column * this.#layout.across - (x - left);
    this.#layout.y = row * this.#layout.down - (y - top);
    this.draw();
    this.onZoom();
  }

  /** Enlarges about the cell the cursor is kept on, which stays in sight; else about the middle. */
  zoomHere(factor) {
    if (!this.#layout) return;
    const { row, column } = this.#pinned;
    this.#reveal(row, column);
    const { left, top, width, height, across, down, x, y } = this.#layout;
    this.zoom(
      factor,
      left + (column < 0 ? width / 2 : (column + 0.5) * across - x),
      top + (row < 0 ? height / 2 : (row + 0.5) * down - y),
    );
    this.#reveal(row, column);
  }

  /** The cell the cursor is kept on; -1 for none. */
  get pinned() {
    return this.#pinned;
  }

  /** How much the map is enlarged, in percent. */
  get percent() {
    return Math.round(this.#zoom * 100);
  }

  /** Whether the map can get smaller, and larger. */
  get canZoom() {
    if (!this.map) return { smaller: false, larger: false };
    return { smaller: this.#zoom > 1, larger: this.#zoom < this.#mostZoom() };
  }

  #mostZoom() {
    return Math.max(1, largestZoomed / this.#square);
  }

  #context(canvas) {
    const context = canvas.getContext('2d');
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    return context;
  }

  #place() {
    const { rows, columns, room = 0 } = this.map;
    const margins = mostOf(this.#room, this.margins);
    const [wide, high] = [columns.length, Math.max(rows.length, room)];
    const beside = this.node.clientWidth - margins.left;
    const highest = this.#heightInSight() - margins.top;
    const reaches = margins.reach.slice(0, wide);
    const [widestCell, highestCell] = [widestThatFits(beside, reaches), highest / high];
    const whole = (size) => (size < smallestCell ? size : Math.floor(size));
    this.#square = whole(Math.min(largestCell, widestCell, highestCell));
    // Of a map that is far from square the short side is stretched, until its labels can be read.
    const side = (largest, count, other) => {
      const stretched = Math.min(readableCell, largest, (other * this.#square) / count);
      return Math.max(this.#square * this.#zoom, whole(stretched));
    };
    const [across, down] = [side(widestCell, wide, high), side(highestCell, high, wide)];
    // Any column may be the last one of a map that is scrolled.
    const widest = this.#zoom > 1 ? beside - margins.right : beside;
    const width = Math.min(wide * across, widest);
    const height = Math.min(rows.length * down, highest);
    const clamp = (value, most) => Math.max(0, Math.min(value, most));
    const x = clamp(this.#layout?.x ?? 0, wide * across - width);
    const y = clamp(this.#layout?.y ?? 0, rows.length * down - height);
    this.#layout = { ...margins, width, height, across, down, x, y };
    const full = margins.top + Math.min(highest, high * down) + 4;
    for (const canvas of [this.cells, this.cursor]) resize(canvas, this.node.clientWidth, full);
    this.node.classList.toggle('zoomed', this.#zoom > 1);
    this.onSpare(beside - (this.#zoom > 1 ? width + margins.right : endOf(reaches, across)));
  }

  /** The height there is: what the window has below the top of the map, or a share of it. */
  #heightInSight() {
    const around = legendHeight + roomBelow();
    const below = innerHeight - (this.node.getBoundingClientRect().top + scrollY) - around;
    const least = this.map.rows.length > longFrom ? 0.85 : this.tallest;
    return Math.max(innerHeight * least, below);
  }

  /** The cell under a pointer. */
  #cellAt(event) {
    const { left, top, width, height, across, down, x, y } = this.#layout;
    const box = this.node.getBoundingClientRect();
    const [fromLeft, fromTop] = [event.clientX - box.left - left, event.clientY - box.top - top];
    return {
      row: fromTop >= 0 && fromTop < height ? Math.floor((fromTop + y) / down) : -1,
      column: fromLeft >= 0 && fromLeft < width ? Math.floor((fromLeft + x) / across) : -1,
    };
  }

  #moveTo(row, column) {
    this.#reveal(row, column);
    this.onPin(row, column);
    this.onPoint(row, column);
  }

  /** Scrolls a zoomed map so that a cell is in sight. */
  #reveal(row, column) {
    const { across, down, width, height, x, y } = this.#layout;
    const shown = (from, place, size, extent) =>
      place < 0 ? from : Math.min(place * size, Math.max(from, (place + 1) * size - extent));
    this.#layout.x = shown(x, column, across, width);
    this.#layout.y = shown(y, row, down, height);
    this.#pinned = { row, column };
    if (this.#zoom > 1) this.draw();
    else this.point(row, column);
  }

  #listen() {
    const { node } = this;
    new ResizeObserver(() => this.draw()).observe(node);
    node.addEventListener('pointerdown', (event) => this.#down(event));
    node.addEventListener('pointermove', (event) => this.#move(event));
    node.addEventListener('pointerup', (event) => this.#up(event));
    node.addEventListener('pointercancel', (event) => this.#pointers.delete(event.pointerId));
    node.addEventListener('pointerleave', () => this.#leave());
    node.addEventListener('keydown', (event) => this.#key(event));
    node.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
  }

  #down(event) {
    if (event.button) return;
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY, travelled: 0 });
  }

  #move(event) {
    if (!this.#layout) return;
    const from = this.#pointers.get(event.pointerId);
    if (!from) {
      const { row, column } = this.#cellAt(event);
      this.point(row, column);
      return this.onPoint(row, column);
    }
    const moved = [event.clientX - from.x, event.clientY - from.y];
    const apart = this.#spread();
    from.x = event.clientX;
    from.y = event.clientY;
    from.travelled += Math.hypot(...moved);
    if (apart) {
      const box = this.node.getBoundingClientRect();
      this.zoom(this.#spread() / apart, event.clientX - box.left, event.clientY - box.top);
    } else if (this.#zoom > 1) {
      this.#scroll(-moved[0], -moved[1]);
    }
  }

  /** The distance of two fingers, 0 for fewer. */
  #spread() {
    const [first, second] = this.#pointers.values();
    return second ? Math.hypot(first.x - second.x, first.y - second.y) : 0;
  }

  #up(event) {
    const from = this.#pointers.get(event.pointerId);
    this.#pointers.delete(event.pointerId);
    if (!this.#layout || !from || from.travelled > 6) return;
    const { row, column } = this.#cellAt(event);
    this.#moveTo(row, column);
  }

  #leave() {
    this.#pointers.clear();
    this.point(this.#pinned.row, this.#pinned.column);
    this.onPoint(this.#pinned.row, this.#pinned.column);
  }

  #key(event) {
    if (!this.map || event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = arrows[event.key];
    const { row, column } = this.#pinned;
    if (arrow) {
      const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));
      this.#moveTo(
        clamp(row + arrow[0], this.map.rows.length),
        clamp(column + arrow[1], this.map.columns.length),
      );
    } else if (event.key === 'Home') this.#moveTo(Math.max(0, row), 0);
    else if (event.key === 'End') this.#moveTo(Math.max(0, row), this.map.columns.length - 1);
    else if (event.key === '+' || event.key === '=') this.zoomHere(1.5);
    else if (event.key === '-') this.zoomHere(1 / 1.5);
    else if (event.key === '0') this.zoomHere(0);
    else if (event.key === 'Enter' && this.onEnter) this.onEnter();
    else if (event.key === 'Escape') this.#moveTo(-1, -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #wheel(event) {
    if (!this.#layout || (!event.ctrlKey && this.#zoom === 1)) return;
    event.preventDefault();
    if (event.ctrlKey) this.zoom(Math.exp(-event.deltaY / 200), event.offsetX, event.offsetY);
    else this.#scroll(event.deltaX, event.deltaY);
  }

  #scroll(x, y) {
    this.#layout.x += x;
    this.#layout.y += y;
    this.draw();
  }
}

/** The widest cell with which every label ends within so many pixels. */
function widestThatFits(pixels, reaches) {
  const fits = (least, reach, column) => Math.min(least, (pixels - reach) / (column + 0.5));
  return Math.max(1, reaches.reduce(fits, pixels / reaches.length));
}

/** Where the last label or cell ends. */
function endOf(reaches, across) {
  const ends = (most, reach, column) => Math.max(most, (column + 0.5) * across + reach);
  return reaches.reduce(ends, reaches.length * across);
}
