// Painting a heat map on canvas: cells, labels that thin out when they are many, and the cursor.
import { colourer, palette, pixelsOf, scaled } from './colours.js';
import { tokenTexts } from './tokens.js';

export const font = '13px system-ui, sans-serif';
const lineHeight = 14;
const thinnedHeight = 20; // of a line, where labels are left out
const slant = Math.PI / 4; // of the labels of columns
const mostLetters = 14;
export const axisHeight = 17; // of a line in the corner
const ruler = new OffscreenCanvas(1, 1).getContext('2d');
ruler.font = font;

/**
 * Where things are, in CSS pixels: the map has `left` and `top` beside it for labels, shows
 * `width` x `height` of its cells, `across` wide and `down` high, and is scrolled by `x` and `y`.
 * @typedef {{left: number, top: number, right: number, width: number, height: number,
 *   across: number, down: number, x: number, y: number}} Layout
 */

/** Gives a canvas its size in CSS pixels, sharp on any screen. */
export function resize(canvas, width, height) {
  const [across, down] = [
    Math.round(width * devicePixelRatio),
    Math.round(height * devicePixelRatio),
  ];
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== down) canvas.height = down;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}

/**
 * The labels of a map as they are painted.
 * @param {import('./maps.js').HeatMap} map
 * @returns {{rows: string[], columns: string[]}}
 */
export function shortLabels({ rows, columns, isNamed }) {
  const short = (text) => {
    const letters = [...text];
    return letters.length > mostLetters ? letters.slice(0, mostLetters - 1).join('') + '…' : text;
  };
  const named = (tokens) => (isNamed ? tokens : tokenTexts(tokens)).map(short);
  return { rows: named(rows), columns: named(columns) };
}

/** How wide a text is, in pixels. */
export const widthOf = (text) => ruler.measureText(text).width;

/** A text that takes no more than so many pixels. */
export function fitted(text, width) {
  if (widthOf(text) <= width) return text;
  const letters = [...text];
  while (letters.length && widthOf(letters.join('') + '…') > width) letters.pop();
  return letters.join('') + '…';
}

/**
 * The room that labels take, measured: beside the cells, above them, and to the right of the middle
 * of each column (`reach`), of any of them at most (`right`).
 * @typedef {{left: number, top: number, right: number, reach: number[]}} Room
 */

/** @type {Room} */
export const noRoom = { left: 0, top: 0, right: 0, reach: [] };

/** What stands in the corner between the labels: "output ↓" below "input →". */
export function axisTexts(axes) {
  return axes ? { rows: `${axes.rows} ↓`, columns: `${axes.columns} →` } : null;
}

/**
 * @param {{rows: string[], columns: string[]}} labels
 * @param {{rows: string, columns: string}} [axes]
 * @returns {Room}
 */
export function roomForLabels({ rows, columns }, axes) {
  const widest = (sizes) => sizes.reduce((most, size) => Math.max(most, size), 0);
  const slanted = columns.map((text) => Math.ceil(widthOf(text) * Math.SQRT1_2));
  const corner = Object.values(axisTexts(axes) ?? {});
  return {
    left: Math.ceil(widest([...rows, ...corner].map(widthOf))) + 14,
    top: Math.max(widest(slanted) + 18, corner.length ? 2 * axisHeight + 6 : 0),
    right: widest(slanted) + 8,
    reach: slanted.map((width) => width + 8),
  };
}

/**
 * The larger of two rooms, for maps side by side.
 * @param {Room} a
 * @param {Room} b
 * @returns {Room}
 */
export function mostOf(a, b) {
  const [shorter, longer] = [a.reach, b.reach].sort((one, other) => one.length - other.length);
  return {
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.max(a.right, b.right),
    reach: longer.map((reach, column) => Math.max(reach, shorter[column] ?? 0)),
  };
}

/**
 * Paints cells and labels.
 * @param {CanvasRenderingContext2D} context
 * @param {import('./maps.js').HeatMap} map
 * @param {Layout} layout
 * @param {{rows: string[], columns: string[]}} labels
 */
export function paintMap(context, map, layout, labels) {
  const { left, top, width, height } = layout;
  context.clearRect(0, 0, context.canvas.width, context.canvas.height);
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  if (Math.min(layout.across, layout.down) < 7) paintPixels(context, scaled(map), layout);
  else paintCells(context, scaled(map), layout);
  paintBreaks(context, map, layout);
  context.restore();
  context.font = font;
  context.fillStyle = palette().muted;
  paintAxes(context, layout, axisTexts(map.axes));
  const rowStep = stepOf(layout.down, lineHeight, thinnedHeight);
  for (const row of visible(layout.y, height, layout.down, map.rows.length))
    if (row % rowStep === 0) paintRowLabel(context, layout, row, labels.rows[row]);
  const columnStep = stepOf(layout.across, lineHeight * 1.25, thinnedHeight * 1.25);
  for (const column of visible(layout.x, width, layout.across, map.columns.length))
    if (column % columnStep === 0)
      paintColumnLabel(context, layout, column, labels.columns[column]);
}

/**
 * Paints the cursor on its own canvas: the row and the column it crosses, and their labels.
 * @param {CanvasRenderingContext2D} context
 * @param {Layout} layout
 * @param {{rows: string[], columns: string[]}} labels
 */
export function paintCursor(context, layout, labels, row, column) {
  const { left, top, width, height, across, down } = layout;
  const { accent, paper } = palette();
  context.clearRect(0, 0, context.canvas.width, context.canvas.height);
  if (row < 0 && column < 0) return;
  const x = left + column * across - layout.x;
  const y = top + row * down - layout.y;
  context.save();
  context.beginPath();
  context.rect(left - 1, top - 1, width + 2, height + 2);
  context.clip();
  context.strokeStyle = accent;
  context.lineWidth = 1;
  context.globalAlpha = 0.55;
  if (row >= 0) context.strokeRect(left - 0.5, y - 0.5, width + 1, down);
  if (column >= 0) context.strokeRect(x - 0.5, top - 0.5, across, height + 1);
  context.globalAlpha = 1;
  context.lineWidth = 2;
  if (row >= 0 && column >= 0) context.strokeRect(x - 1, y - 1, across + 1, down + 1);
  context.restore();
  context.font = `600 ${font}`;
  const paint = (label) => {
    context.fillStyle = paper;
    label(true);
    context.fillStyle = accent;
    label(false);
  };
  if (row >= 0) paint((erase) => paintRowLabel(context, layout, row, labels.rows[row], erase));
  if (column >= 0)
    paint((erase) => paintColumnLabel(context, layout, column, labels.columns[column], erase));
}

function paintAxes(context, { left, top }, texts) {
  if (!texts) return;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  context.fillText(texts.columns, left - 8, top - 1.5 * axisHeight);
  context.fillText(texts.rows, left - 8, top - 0.5 * axisHeight);
}

/** Which labels are shown: every one, or one in so many that they stand apart. */
function stepOf(size, tight, loose) {
  return size >= tight ? 1 : Math.ceil(loose / size);
}

/** The indices of rows or columns in sight. */
function* visible(offset, extent, size, count) {
  const last = Math.min(count - 1, Math.floor((offset + extent - 1) / size));
  for (let i = Math.max(0, Math.floor(offset / size)); i <= last; ++i) yield i;
}

function paintPixels(context, map, { left, top, across, down, x, y }) {
  const [width, height] = [map.columns.length, map.rows.length];
  if (!width || !height) return;
  const cells = new OffscreenCanvas(width, height);
  cells.getContext('2d').putImageData(pixelsOf(map, width, height), 0, 0);
  context.imageSmoothingEnabled = Math.min(across, down) < 1;
  context.drawImage(cells, left - x, top - y, width * across, height * down);
}

function paintCells(context, map, { left, top, width, height, across, down, x, y }) {
  const columns = map.columns.length;
  const colour = colourer(map);
  for (const row of visible(y, height, down, map.rows.length)) {
    for (const column of visible(x, width, across, columns)) {
      context.fillStyle = colour(map.values[row * columns + column]);
      context.fillRect(left + column * across - x, top + row * down - y, across - 1, down - 1);
    }
  }
}

/** Lines where one text ends and the next begins. */
function paintBreaks(context, { breaks }, { left, top, width, height, across, down, x, y }) {
  if (!breaks) return;
  context.fillStyle = palette().contrary;
  for (const row of breaks.rows) context.fillRect(left, Math.round(top + row * down - y) - 1.5, width, 2);
  for (const column of breaks.columns)
    context.fillRect(Math.round(left + column * across - x) - 1.5, top, 2, height);
}

function paintRowLabel(context, { left, top, height, down, y }, row, text, erase = false) {
  const middle = top + (row + 0.5) * down - y;
  if (middle < top || middle > top + height) return;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  if (erase) context.fillRect(0, middle - lineHeight / 2, left - 4, lineHeight);
  else context.fillText(text, left - 8, middle);
}

function paintColumnLabel(context, { left, top, width, across, x }, column, text, erase = false) {
  const middle = left + (column + 0.5) * across - x;
  if (middle < left || middle > left + width) return;
  context.save();
  context.translate(middle, top - 6);
  context.rotate(-slant);
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  if (erase) context.fillRect(-2, -lineHeight / 2, context.measureText(text).width + 6, lineHeight);
  else context.fillText(text, 0, 0);
  context.restore();
}
