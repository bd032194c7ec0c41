// Pictures as SVG text: heat maps side by side, made of real vectors.
import { colourer, levelOf, palette, scalesOf } from './colours.js';
import { roomForLabels, shortLabels } from './paint.js';
import { number } from './readout.js';

const gap = 32;
const titleHeight = 28;
const mostNamed = 4096; // cells; in larger maps cells of one colour are one path, without a title each

/** Text made safe for XML. */
export function escape(text) {
  return String(text)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '�')
    .replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]);
}

/** An SVG document around a body. */
export function svgDocument(width, height, body) {
  const { paper } = palette();
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13">\n` +
    `<rect width="100%" height="100%" fill="${paper}"/>\n${body}\n</svg>\n`;
}

/**
 * Maps side by side.
 * @param {import('./maps.js').HeatMap[]} maps
 */
export function heatMapSvg(maps) {
  let [x, tallest] = [16, 0];
  const bodies = maps.map((map) => {
    const labels = { rows: shortLabels(map.rows), columns: shortLabels(map.columns) };
    const room = roomForLabels(labels.rows, labels.columns);
    const size = Math.max(2, Math.min(24, 960 / Math.max(map.rows.length, map.columns.length)));
    const body = `<g transform="translate(${x} 16)">${drawMap(map, labels, room, size)}</g>`;
    x += Math.ceil(room.left + map.columns.length * size + room.right + gap);
    tallest = Math.max(tallest, Math.ceil(titleHeight + room.top + map.rows.length * size));
    return body;
  });
  return svgDocument(x - gap + 16, tallest + 32, bodies.join('\n'));
}

function drawMap(map, labels, room, size) {
  const { ink, muted } = palette();
  const [left, top] = [room.left, room.top + titleHeight];
  const step = Math.ceil(15 / size);
  const thin = (texts, draw) => texts.map((text, i) => (i % step ? '' : draw(escape(text), (i + 0.5) * size))).join('');
  const rows = thin(labels.rows, (text, y) => `<text x="${left - 8}" y="${round(top + y + 4)}" text-anchor="end">${text}</text>`);
  const columns = thin(labels.columns, (text, x) =>
    `<text transform="translate(${round(left + x + 3)} ${top - 6}) rotate(-45)">${text}</text>`);
  const isSmall = map.values.length <= mostNamed;
  return `<text y="14" fill="${ink}" font-weight="600">${escape(map.title)}</text>` +
    `<g fill="${muted}">${rows}${columns}</g>` +
    `<g transform="translate(${left} ${top}) scale(${round(size)})">${isSmall ? namedCells(map) : colouredPaths(map)}</g>`;
}

/** A rectangle a cell, which says its value when pointed at. */
function namedCells(map) {
  const { rows, columns, values } = map;
  const colour = colourer(map);
  return rows.map((row, i) => columns.map((column, j) => {
    const value = values[i * columns.length + j];
    return `<rect x="${j}" y="${i}" width=".96" height=".96" fill="${colour(value)}">` +
      `<title>${escape(`${row} → ${column}: ${number(value)}`)}</title></rect>`;
  }).join('')).join('\n');
}

/** A path a colour; neighbours of one colour are one stroke. Every fourth level is enough for the eye. */
function colouredPaths(map) {
  const { rows, columns, values, most } = map;
  const paths = new Map();
  const width = columns.length;
  const levelAt = (i) => Math.sign(values[i]) * (levelOf(values[i], most) & ~3);
  for (let row = 0; row < rows.length; ++row) {
    for (let column = 0, end; column < width; column = end) {
      const level = levelAt(row * width + column);
      for (end = column + 1; end < width && levelAt(row * width + end) === level; ++end);
      const strokes = paths.get(level) ?? [];
      strokes.push(`M${column} ${row}h${end - column}v1h${column - end}z`);
      paths.set(level, strokes);
    }
  }
  const [above, below] = scalesOf(map);
  return [...paths].map(([level, strokes]) =>
    `<path fill="${(level < 0 ? below : above).css[Math.abs(level)]}" d="${strokes.join('')}"/>`).join('\n');
}

const round = (value) => Math.round(value * 100) / 100;

const styled = ['fill', 'stroke', 'stroke-width', 'stroke-opacity', 'fill-opacity', 'opacity', 'font-size', 'font-weight', 'font-family', 'visibility'];

/**
 * Drawings of the page one beneath another, with the colours of the style sheet written into them.
 * @param {SVGSVGElement[]} drawings
 * @param {string[]} [titles]
 */
export function frozenSvg(drawings, titles = []) {
  let [width, height] = [0, 16];
  const bodies = drawings.map((drawing, i) => {
    const [across, down] = [drawing.width.baseVal.value, drawing.height.baseVal.value];
    const copy = drawing.cloneNode(true);
    const originals = drawing.querySelectorAll('*');
    copy.querySelectorAll('*').forEach((node, place) => {
      const style = getComputedStyle(originals[place]);
      for (const name of styled) node.setAttribute(name, style.getPropertyValue(name));
      node.removeAttribute('class');
    });
    const title = titles[i] ? `<text x="16" y="${height + 14}" fill="${palette().ink}" font-weight="600">${escape(titles[i])}</text>` : '';
    const y = height + (title ? titleHeight : 0);
    const body = `${title}<g transform="translate(0 ${y})">${new XMLSerializer().serializeToString(copy).replace(/^<svg[^>]*>|<\/svg>$/g, '')}</g>`;
    width = Math.max(width, across);
    height = y + down + 16;
    return body;
  });
  return svgDocument(width, height, bodies.join('\n'));
}
