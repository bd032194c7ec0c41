// One chart of lines over training steps.
import { element, svg } from './dom.js';
import { brief, tick } from './numbers.js';

const [height, left, right, top, bottom] = [220, 60, 16, 12, 26];

/** @typedef {{name: string, points: Array<[number, number]>}} Series */

/** A small chart with a crosshair. */
export class Chart {
  #series = [];
  #scales = null;

  /** @param {string} title */
  constructor(title) {
    this.title = title;
    this.drawing = svg('svg', { class: 'chart', height, role: 'img', 'aria-label': title });
    this.value = element('output');
    this.legend = element('span', { className: 'series' });
    this.cross = svg('line', {
      class: 'cross',
      y1: top,
      y2: height - bottom,
      visibility: 'hidden',
    });
    this.node = element(
      'figure',
      {},
      element('figcaption', {}, element('span', {}, title), this.legend, this.value),
      this.drawing,
    );
    this.drawing.addEventListener('pointermove', (event) => this.#point(event));
    this.drawing.addEventListener('pointerleave', () => this.#leave());
    new ResizeObserver(() => this.#draw()).observe(this.node);
  }

  /** @param {Series[]} series */
  show(series) {
    this.#series = series.filter(({ points }) => points.length);
    this.node.hidden = !this.#series.length;
    this.#draw();
  }

  /** What the lines are, with their colours. */
  get names() {
    const keys = this.legend.children;
    return this.#series.map(({ name }, i) => ({ name, colour: getComputedStyle(keys[i]).color }));
  }

  #draw() {
    const width = this.node.clientWidth;
    if (!width || !this.#series.length) return;
    this.drawing.setAttribute('width', width);
    this.#scales = scalesOf(this.#series, width);
    const { x, y, ticksX, ticksY } = this.#scales;
    const grid = ticksY.marks.map((mark) =>
      svg(
        'g',
        { class: 'tick' },
        svg('line', { x1: left, x2: width - right, y1: y(mark), y2: y(mark) }),
        svg('text', { x: left - 8, y: y(mark) + 4, 'text-anchor': 'end' }, ticksY.text(mark)),
      ),
    );
    const steps = ticksX.marks.map((mark) =>
      svg(
        'text',
        { class: 'tick', x: x(mark), y: height - 6, 'text-anchor': 'middle' },
        ticksX.text(mark),
      ),
    );
    const lines = this.#series.map(({ points }, i) =>
      svg('polyline', {
        class: `line line-${i}`,
        points: thinned(points, width)
          .map(([step, value]) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`)
          .join(' '),
      }),
    );
    // A line through one point cannot be seen.
    const dots = this.#series.flatMap(({ points: [[step, value], second] }, i) =>
      second ? [] : svg('circle', { class: `dot line-${i}`, cx: x(step), cy: y(value), r: 3 }),
    );
    this.drawing.replaceChildren(...grid, ...steps, ...lines, ...dots, this.cross);
    this.#leave();
  }

  #point(event) {
    const box = this.drawing.getBoundingClientRect();
    const nearest = this.#series.map(({ name, points }) => {
      const step = this.#scales.stepAt(event.clientX - box.left);
      return [
        name,
        points.reduce((best, point) =>
          Math.abs(point[0] - step) < Math.abs(best[0] - step) ? point : best,
        ),
      ];
    });
    const x = this.#scales.x(nearest[0][1][0]);
    this.cross.setAttribute('x1', x);
    this.cross.setAttribute('x2', x);
    this.cross.setAttribute('visibility', 'visible');
    this.#say(nearest);
  }

  #leave() {
    this.cross.setAttribute('visibility', 'hidden');
    this.#say(this.#series.map(({ name, points }) => [name, points.at(-1)]));
  }

  #say(values) {
    this.legend.replaceChildren(
      ...values.map(([name, [, value]], i) =>
        element('span', { className: `key key-${i}` }, `${name} ${brief(value)}`),
      ),
    );
    this.value.textContent = `step ${values[0][1][0]}`;
  }
}

function scalesOf(series, width) {
  const steps = series.flatMap(({ points }) => points.map(([step]) => step));
  const values = series.flatMap(({ points }) => points.map(([, value]) => value));
  const extent = (list) =>
    list.reduce(
      ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
      [Infinity, -Infinity],
    );
  const [firstStep, lastStep] = extent(steps);
  let [low, high] = extent(values);
  if (low > 0 && low < high / 3) low = 0;
  if (high === low) high = low + (Math.abs(low) || 1) * 0.1;
  const span = Math.max(1, lastStep - firstStep);
  const [across, down] = [width - left - right, height - top - bottom];
  return {
    x: (step) => left + ((step - firstStep) / span) * across,
    y: (value) => top + (1 - (value - low) / (high - low)) * down,
    stepAt: (x) => firstStep + ((x - left) / across) * span,
    ticksX: ticks(firstStep, lastStep, width / 80),
    ticksY: ticks(low, high, 4),
  };
}

/** Round numbers between two, and how they are written. */
function ticks(low, high, about) {
  const rough = (high - low) / about || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  const marks = Array.from({ length: Math.max(0, count) }, (_, i) => (first + i) * step);
  return { marks, text: (mark) => tick(mark, step) };
}

/** At most a point a pixel. */
function thinned(points, width) {
  const step = Math.ceil(points.length / width);
  return points.filter((_, i) => i % step === 0 || i === points.length - 1);
}
