// Points of a plane, coloured by label: the drawing, and what stands in its key.
import { element, svg } from './dom.js';

const [hues, shapes] = [8, 3]; // of labels; the points of further ones are grey
const [edge, nameWidth, nameHeight] = [14, 6.6, 12];
const reach = 24; // pixels from the pointer to its point, at most

/** @typedef {import('./embeddings.js').Point} Point */
/** @typedef {import('./embeddings.js').PointMap} PointMap */

/**
 * Labels with how many points have them: numbers by size, others by name; none where all are empty.
 * @param {Point[]} points
 * @returns {Array<{label: string, count: number}>}
 */
export function labelsOf(points) {
  const found = new Map();
  for (const { label } of points) found.set(label, (found.get(label) ?? 0) + 1);
  if (found.size === 1 && found.has('')) return [];
  const labels = [...found].map(([label, count]) => ({ label, count }));
  const isNumber = ({ label }) => label.trim() !== '' && Number.isFinite(Number(label));
  const byText = (a, b) => (a.label < b.label ? -1 : 1);
  const order = labels.every(isNumber) ? (a, b) => Number(a.label) - Number(b.label) : byText;
  return labels.sort(order);
}

/** What a label looks like: a hue and a shape, by its place; grey past the last of them. */
const markOf = (place) =>
  place < hues * shapes ? { hue: place % hues, shape: Math.floor(place / hues) } : { hue: -1, shape: 0 };

/** What stands in the key: the labels that have a look of their own, and the others together. */
export function entriesOf(labels) {
  const most = hues * shapes;
  const entries = labels.slice(0, most).map(({ label, count }, place) => ({
    name: label || '(none)',
    mark: markOf(place),
    count,
    belongs: (number) => number === place,
  }));
  const others = labels.slice(most);
  if (others.length)
    entries.push({
      name: `${others.length} other labels`,
      mark: markOf(most),
      count: others.reduce((sum, { count }) => sum + count, 0),
      belongs: (number) => number >= most,
    });
  return entries;
}

/** A mark at a place. */
function markAt({ hue, shape }, x, y, size) {
  const name = hue < 0 ? 'other' : `hue-${hue}`;
  if (shape === 1)
    return svg('rect', { class: name, x: x - 0.9 * size, y: y - 0.9 * size, width: 1.8 * size, height: 1.8 * size });
  if (shape === 2) {
    const d = `M${x} ${y - 1.2 * size}l${1.15 * size} ${2 * size}h${-2.3 * size}z`;
    return svg('path', { class: name, d });
  }
  return svg('circle', { class: name, cx: x, cy: y, r: size });
}

/** A mark for the key. */
export const keyOfMark = (mark) =>
  svg('svg', { class: 'mark-of-label', width: 14, height: 14, 'aria-hidden': 'true' }, markAt(mark, 7, 7, 5));

/** The points as SVG, of which one is in focus. */
export class Plot {
  #map = null;
  #named = false;
  #places = []; // of the points, in pixels
  #nodes = [];
  #off = new Set(); // numbers of points that are hidden
  #numbers = []; // of the points' labels
  #chosen = -1;

  /** @param {function(?Point): void} onPoint called with what the pointer or the keys are at */
  constructor(onPoint) {
    this.onPoint = onPoint;
    this.drawing = svg('svg', { class: 'plot' });
    this.node = element(
      'div',
      {
        className: 'plot-of-points',
        tabIndex: 0,
        role: 'application',
        'aria-label': 'Points. Left and right move through them.',
      },
      this.drawing,
    );
    new ResizeObserver(() => this.draw()).observe(this.node);
    this.node.addEventListener('pointermove', (event) => this.#follow(event));
    this.node.addEventListener('pointerdown', (event) => this.#follow(event));
    this.node.addEventListener('pointerleave', ({ pointerType }) => {
      if (pointerType === 'mouse') this.#choose(-1);
    });
    this.node.addEventListener('keydown', (event) => this.#key(event));
  }

  /**
   * @param {?PointMap} map
   * @param {Array<{label: string}>} labels
   * @param {boolean} isNamed whether texts stand beside the points
   */
  show(map, labels, isNamed) {
    const numbers = new Map(labels.map(({ label }, number) => [label, number]));
    [this.#map, this.#named] = [map, isNamed];
    this.#numbers = (map?.points ?? []).map(({ label }) => numbers.get(label) ?? 0);
    this.#off.clear();
    this.#chosen = -1;
    this.draw();
  }

  /** Shows or hides points by the number of their label. */
  turn(belongs, isOn) {
    this.#numbers.forEach((number, i) => {
      if (!belongs(number)) return;
      if (isOn) this.#off.delete(i);
      else this.#off.add(i);
      this.#nodes[i]?.classList.toggle('gone', !isOn);
    });
    if (this.#off.has(this.#chosen)) this.#choose(-1);
  }

  draw() {
    const width = this.node.clientWidth;
    this.node.hidden = !this.#map;
    if (!this.#map || !width) return;
    const height = Math.round(Math.min(width * 0.75, Math.max(320, innerHeight * 0.72)));
    const { points, x_axis: across, y_axis: up } = this.#map;
    const size = points.length <= 200 ? 5 : points.length <= 1000 ? 4 : 3;
    const top = up ? edge + 18 : edge;
    const bottom = height - edge - (across ? 20 : 0);
    const x = scale(points.map((point) => point.x), edge, width - edge);
    const y = scale(points.map((point) => point.y), bottom, top);
    this.#places = points.map((point) => [x(point.x), y(point.y)]);
    this.#nodes = points.map((_, i) => markAt(markOf(this.#numbers[i]), ...this.#places[i], size));
    this.#off.forEach((i) => this.#nodes[i].classList.add('gone'));
    const axes = [];
    if (across)
      axes.push(svg('text', { class: 'axis', x: width - edge, y: height - 10, 'text-anchor': 'end' }, `${across} →`));
    if (up) axes.push(svg('text', { class: 'axis', x: 10, y: 18 }, `${up} ↑`));
    const frame = svg('rect', { class: 'frame', x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 8 });
    this.drawing.setAttribute('width', width);
    this.drawing.setAttribute('height', height);
    this.drawing.replaceChildren(
      frame,
      ...axes,
      svg('g', {}, ...this.#nodes),
      ...(this.#named ? [namesAt(points, this.#places, size, width)] : []),
    );
    this.#choose(this.#chosen);
  }

  #follow(event) {
    const box = this.node.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, least] = [-1, reach];
    this.#places.forEach(([px, py], i) => {
      const far = Math.hypot(px - x, py - y);
      if (far >= least || this.#off.has(i)) return;
      [best, least] = [i, far];
    });
    this.#choose(best);
  }

  #key(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || !this.#map) return;
    if (by) {
      const order = this.#places
        .map(([x], i) => [x, i])
        .filter(([, i]) => !this.#off.has(i))
        .sort((a, b) => a[0] - b[0]);
      if (!order.length) return;
      const place = order.findIndex(([, i]) => i === this.#chosen);
      const next = place < 0 ? 0 : Math.max(0, Math.min(order.length - 1, place + by));
      this.#choose(order[next][1]);
    } else if (event.key === 'Escape') this.#choose(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #choose(i) {
    if (this.#chosen >= 0) this.#nodes[this.#chosen]?.classList.remove('near');
    this.#nodes[i]?.classList.add('near');
    if (i !== this.#chosen) this.onPoint(this.#map?.points[i] ?? null);
    this.#chosen = i;
  }
}

/** From values to pixels. */
function scale(values, from, to) {
  const least = values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
  return (value) => (most > least ? from + ((value - least) / (most - least)) * (to - from) : (from + to) / 2);
}

/** Texts beside their points; one that would cover another is left out, the first ones first. */
function namesAt(points, places, size, width) {
  const taken = [];
  const group = svg('g', { class: 'names' });
  points.forEach(({ text }, i) => {
    const name = text.replace(/^▁/, '');
    const long = [...name].length * nameWidth;
    const [x, y] = [places[i][0], places[i][1] + 4];
    // On the other side where the picture ends.
    const left = x + size + 2 + long > width ? x - size - 2 - long : x + size + 2;
    const right = left + long;
    const covers = taken.some(
      (other) => Math.abs(other.y - y) < nameHeight && left < other.right && other.left < right,
    );
    if (covers || left < 0 || !name) return;
    taken.push({ left, right, y });
    group.append(svg('text', { x: left, y }, name));
  });
  return group;
}
