// The head view: two columns of tokens and lines between them. Only what is in sight is painted.
import { palette } from './colours.js';
import { element } from './dom.js';
import { latest } from './latest.js';
import { loadMap } from './maps.js';
import { resize } from './matrix.js';
import { font, shortLabels } from './paint.js';
import { Readout } from './readout.js';
import { escape, svgDocument } from './vector.js';

const pitch = 26; // between tokens
const edge = 16;
const faintest = 0.04; // of the largest weight; thinner lines are not drawn

/** @param {import('./main.js').App} app */
export function headView(app) {
  const readout = new Readout('Point at a token to see where it looks and who looks at it.', false);
  const lines = element('canvas');
  const focus = element('canvas', { className: 'cursor' });
  const spacer = element('div', { className: 'spacer' });
  const scroller = element('div', {
    className: 'heads', tabIndex: 0, role: 'application',
    'aria-label': 'Head view. Up and down move through the tokens, left and right change the side.',
  }, element('div', { className: 'sheet' }, lines, focus), spacer);
  const load = latest(app.fail);
  /** @type {?import('./maps.js').HeatMap} */
  let map = null;
  let labels = null;
  let layout = null;

  const draw = () => {
    if (!map || !scroller.clientWidth) return;
    layout = place(map, scroller.clientWidth);
    node.style.setProperty('--spare', `${scroller.clientWidth - layout.right - layout.left}px`);
    spacer.style.height = `${layout.height}px`;
    const below = innerHeight - (scroller.getBoundingClientRect().top + scrollY) - 24;
    const inSight = Math.min(layout.height, Math.max(innerHeight * 0.5, below));
    scroller.style.height = `${inSight}px`;
    for (const canvas of [lines, focus]) resize(canvas, scroller.clientWidth, inSight);
    paintLines();
  };
  const context = (canvas) => {
    const context = canvas.getContext('2d');
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, -scroller.scrollTop * devicePixelRatio);
    context.clearRect(0, scroller.scrollTop, layout.width, layout.height);
    return context;
  };
  const paintLines = () => {
    const onto = context(lines);
    const [from, to] = [scroller.scrollTop, scroller.scrollTop + scroller.clientHeight];
    onto.strokeStyle = palette().accent;
    for (const line of linesOf(map, layout))
      if (Math.max(line.y1, line.y2) > from && Math.min(line.y1, line.y2) < to) stroke(onto, layout, line);
    paintTokens(onto, map, labels, layout, palette().muted);
    point(pinned());
  };
  const point = ({ side, index }) => {
    const onto = context(focus);
    if (index < 0) return readout.show(null, -1, -1);
    const isRow = side === 'rows';
    onto.fillStyle = palette().paper;
    onto.globalAlpha = 0.86;
    onto.fillRect(layout.left, scroller.scrollTop, layout.right - layout.left, scroller.clientHeight);
    onto.strokeStyle = palette().accent;
    for (const line of linesOf(map, layout, isRow ? index : -1, isRow ? -1 : index)) stroke(onto, layout, line);
    onto.globalAlpha = 1;
    paintFocus(onto, map, labels, layout, { isRow, index });
    readout.show(map, isRow ? index : -1, isRow ? -1 : index);
  };
  const pinned = () => {
    const { side, row, column } = app.store.state;
    const index = side === 'rows' ? row : column;
    return { side, index: index < map[side].length ? index : -1 };
  };
  const pin = ({ side, index }) => {
    app.store.set(side === 'rows' ? { side, row: index } : { side, column: index });
    const y = layout[side] * (index + 0.5);
    if (y < scroller.scrollTop + edge || y > scroller.scrollTop + scroller.clientHeight - edge)
      scroller.scrollTop = y - scroller.clientHeight / 2;
    point({ side, index });
    if (index >= 0) app.announce(`${map[side][index]}, ${index + 1} of ${map[side].length}`);
  };
  const tokenAt = (event) => {
    const box = scroller.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top + scroller.scrollTop];
    const side = x < (layout.left + layout.right) / 2 ? 'rows' : 'columns';
    return { side, index: Math.min(map[side].length - 1, Math.floor(y / layout[side])) };
  };
  const key = (event) => {
    if (!map) return;
    const { side, index } = pinned();
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by) pin({ side, index: Math.max(0, Math.min(map[side].length - 1, index + by)) });
    else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
      const other = event.key === 'ArrowLeft' ? 'rows' : 'columns';
      const scaled = Math.round((Math.max(0, index) * map[other].length) / map[side].length);
      pin({ side: other, index: side === other ? index : Math.min(map[other].length - 1, scaled) });
    } else if (event.key === 'Escape') pin({ side, index: -1 });
    else return;
    event.preventDefault();
  };
  scroller.addEventListener('pointermove', (event) => map && point(tokenAt(event)));
  scroller.addEventListener('pointerleave', () => map && point(pinned()));
  scroller.addEventListener('click', (event) => map && pin(tokenAt(event)));
  scroller.addEventListener('keydown', key);
  scroller.addEventListener('scroll', () => map && paintLines());
  new ResizeObserver(draw).observe(scroller);

  const show = (loaded) => {
    map = loaded;
    labels = { rows: shortLabels(map.rows), columns: shortLabels(map.columns) };
    draw();
  };
  const node = element('div', { className: 'beside' }, element('div', { className: 'stage' }, scroller), readout.node);
  return {
    node,
    draw,
    update() {
      const { run, selection } = app;
      const { path } = app.store.state;
      const live = !run.done && run.liveMap();
      if (live) show(live);
      if (!run.done) return;
      load(JSON.stringify([run.id, selection, path]), () => loadMap(run, selection, path), show);
    },
    export: () => map && { title: map.title, svg: () => linesSvg(map, labels), data: map },
  };
}

/** Where the columns of tokens and the lines between them are. Both columns take the whole height. */
function place(map, width) {
  const height = Math.max(map.rows.length, map.columns.length) * pitch;
  const labelWidth = Math.min(150, width * 0.32);
  const right = Math.min(width - labelWidth, labelWidth + 460);
  return { width, height, left: labelWidth, right, rows: height / map.rows.length, columns: height / map.columns.length };
}

/** The lines worth drawing, of all rows and columns or of one. */
function* linesOf(map, layout, onlyRow = -1, onlyColumn = -1) {
  const columns = map.columns.length;
  const [firstRow, lastRow] = onlyRow < 0 ? [0, map.rows.length] : [onlyRow, onlyRow + 1];
  const [firstColumn, lastColumn] = onlyColumn < 0 ? [0, columns] : [onlyColumn, onlyColumn + 1];
  for (let row = firstRow; row < lastRow; ++row) {
    for (let column = firstColumn; column < lastColumn; ++column) {
      const weight = Math.abs(map.values[row * columns + column]) / (map.most || 1);
      if (weight < faintest) continue;
      yield { weight, y1: (row + 0.5) * layout.rows, y2: (column + 0.5) * layout.columns };
    }
  }
}

function stroke(context, { left, right }, { weight, y1, y2 }) {
  const bend = (right - left) * 0.4;
  context.globalAlpha = weight;
  context.lineWidth = 0.5 + 2.5 * weight;
  context.beginPath();
  context.moveTo(left + 4, y1);
  context.bezierCurveTo(left + bend, y1, right - bend, y2, right - 4, y2);
  context.stroke();
  context.globalAlpha = 1;
}

function paintTokens(context, map, labels, layout, colour) {
  map.rows.forEach((_, row) => paintToken(context, labels, layout, true, row, colour));
  map.columns.forEach((_, column) => paintToken(context, labels, layout, false, column, colour));
}

function paintToken(context, labels, layout, isRow, index, colour) {
  context.font = font;
  context.fillStyle = colour;
  context.textBaseline = 'middle';
  context.textAlign = isRow ? 'right' : 'left';
  const y = (index + 0.5) * (isRow ? layout.rows : layout.columns);
  context.fillText(labels[isRow ? 'rows' : 'columns'][index], isRow ? layout.left - 4 : layout.right + 4, y);
}

/** The token in focus, and the others as strongly as they are tied to it. */
function paintFocus(context, map, labels, layout, { isRow, index }) {
  const { accent, ink } = palette();
  const columns = map.columns.length;
  const others = isRow ? map.columns : map.rows;
  others.forEach((_, i) => {
    const weight = map.values[isRow ? index * columns + i : i * columns + index] / (map.most || 1);
    if (weight < faintest) return;
    context.globalAlpha = Math.min(1, 0.35 + weight);
    paintToken(context, labels, layout, !isRow, i, ink);
  });
  context.globalAlpha = 1;
  paintToken(context, labels, layout, isRow, index, accent);
}

function linesSvg(map, labels) {
  const layout = place(map, 760);
  const { accent, ink } = palette();
  const bend = (layout.right - layout.left) * 0.4;
  const paths = Array.from(linesOf(map, layout), ({ weight, y1, y2 }) =>
    `<path d="M${layout.left + 4} ${y1.toFixed(1)}C${layout.left + bend} ${y1.toFixed(1)} ${layout.right - bend} ` +
    `${y2.toFixed(1)} ${layout.right - 4} ${y2.toFixed(1)}" opacity="${weight.toFixed(2)}" stroke-width="${(0.5 + 2.5 * weight).toFixed(1)}"/>`);
  const column = (texts, step, x, anchor) => texts.map((text, i) =>
    `<text x="${x}" y="${((i + 0.5) * step + 4).toFixed(1)}" text-anchor="${anchor}">${escape(text)}</text>`).join('');
  return svgDocument(760, layout.height + 56,
    `<text x="16" y="28" font-weight="600" fill="${ink}">${escape(map.title)}</text><g transform="translate(0 44)">` +
    `<g fill="none" stroke="${accent}">${paths.join('')}</g><g fill="${ink}">` +
    `${column(labels.rows, layout.rows, layout.left - 4, 'end')}` +
    `${column(labels.columns, layout.columns, layout.right + 4, 'start')}</g></g>`);
}
