// Heat maps as SVG, side by side, each with the scale of its colours.
import { colourer, palette, pixelsOf, scaled, stopsOf } from './colours.js';
import { element } from './dom.js';
import { endsOfScale } from './legend.js';
import { escape, heading, stackedSvg, tag } from './markup.js';
import { weight } from './numbers.js';
import { axisHeight, axisTexts, mostOf, roomForLabels, shortLabels, widthOf } from './paint.js';

const [margin, gap, titleHeight, scaleHeight] = [16, 32, 28, 36];
const [smallestCell, largestCell, readableCell] = [2, 24, 16];
const [lineHeight, slantedWidth] = [15, 24]; // that labels of rows and of columns take
const [mostAcross, scaleWidth, stripWidth] = [960, 230, 110];
const boldness = 1.25; // of a title against other text, in any font
const mostNamed = 4096; // cells; of a larger map they are one image, without a title a cell
const mostExact = 1 << 18; // cells in 256 colours

/**
 * A document of maps side by side.
 * @param {import('./maps.js').HeatMap[]} maps
 */
export function heatMapSvg(maps) {
  return stackedSvg(heatMaps(maps));
}

/**
 * Maps side by side.
 * @param {import('./maps.js').HeatMap[]} maps
 * @returns {import('./markup.js').Part}
 */
export function heatMaps(maps) {
  const labels = maps.map(shortLabels);
  const room = labels.map((each, i) => roomForLabels(each, maps[i].axes)).reduce(mostOf);
  let [x, tallest] = [margin, 0];
  const bodies = maps.map((map, i) => {
    const cell = cellOf(map);
    const body = tag(
      'g',
      { transform: `translate(${x} ${margin})` },
      drawMap(map, labels[i], room, cell, `scale-${i}`),
    );
    const width = Math.max(map.columns.length * cell.across, scaleWidth);
    const height = map.rows.length * cell.down;
    const title = widthOf(map.title) * boldness;
    x += Math.ceil(Math.max(room.left + width + room.right, title) + gap);
    tallest = Math.max(tallest, Math.ceil(titleHeight + room.top + height + scaleHeight));
    return body;
  });
  return { width: x - gap + margin, height: tallest + 2 * margin, body: bodies.join('\n') };
}

/** The size of a cell; the short side of a long map is stretched until its labels can be read. */
function cellOf({ rows, columns }) {
  const longest = Math.max(rows.length, columns.length);
  const square = Math.max(smallestCell, Math.min(largestCell, mostAcross / longest));
  const side = (count) => Math.max(square, Math.min(readableCell, (longest * square) / count));
  return { across: side(columns.length), down: side(rows.length) };
}

function drawMap(map, labels, room, { across, down }, id) {
  const [left, top] = [room.left, room.top + titleHeight];
  const { muted, accent, contrary } = palette();
  const [width, height] = [map.columns.length * across, map.rows.length * down];
  const thin = (texts, size, needed, draw) => {
    const step = size < readableCell ? Math.ceil(needed / size) : 1;
    return texts.map((text, i) => (i % step ? '' : draw(escape(text), (i + 0.5) * size, i)));
  };
  const rows = thin(labels.rows, down, lineHeight, (text, y, row) => {
    const mark = row === map.marked ? { fill: accent, 'font-weight': 600 } : {};
    return tag('text', { x: left - 8, y: top + y + 4, 'text-anchor': 'end', ...mark }, text);
  });
  const columns = thin(labels.columns, across, slantedWidth, (text, x) =>
    tag('text', { transform: `translate(${left + x + 3} ${top - 6}) rotate(-45)` }, text),
  );
  const corner = axisTexts(map.axes);
  const axis = (text, lines) =>
    tag('text', { x: left - 8, y: top - lines * axisHeight + 4, 'text-anchor': 'end' }, escape(text));
  const axes = corner ? [axis(corner.columns, 1.5), axis(corner.rows, 0.5)] : [];
  const cells = map.values.length <= mostNamed ? namedCells(map) : [pixelsSvg(scaled(map), map.columns.length, map.rows.length)];
  const { rows: below = [], columns: beside = [] } = map.breaks ?? {};
  const breaks = [
    ...below.map((row) => tag('rect', { y: row * down - 1.25, width, height: 1.5 })),
    ...beside.map((column) => tag('rect', { x: column * across - 1.25, width: 1.5, height })),
  ];
  const scale = `scale(${across.toFixed(4)} ${down.toFixed(4)})`;
  const frame = {
    x: left - 1,
    y: top + map.marked * down - 1,
    width: width + 2,
    height: down + 2,
    fill: 'none',
    stroke: accent,
    'stroke-width': 2,
  };
  return [
    heading(map.title, 0, 14),
    tag('g', { fill: muted }, ...axes, ...rows, ...columns),
    tag('g', { transform: `translate(${left} ${top}) ${scale}` }, ...cells),
    tag('g', { transform: `translate(${left} ${top})`, fill: contrary }, ...breaks),
    map.marked >= 0 ? tag('rect', frame) : '',
    colourScale(map, left, top + height + 18, id),
  ].join('');
}

/** A rectangle a cell, which says its value when pointed at. */
function namedCells(map) {
  const { rows, columns, values } = map;
  const shades = scaled(map);
  const colour = colourer(shades);
  return rows.flatMap((row, y) =>
    columns.map((column, x) => {
      const value = values[y * columns.length + x];
      const title = tag('title', {}, escape(`${row} → ${column}: ${weight(value)}`));
      return tag('rect', { x, y, width: 0.96, height: 0.96, fill: colour(shades.values[y * columns.length + x]) }, title);
    }),
  );
}

/**
 * All cells as one image, a pixel each: millions of rectangles are more than readers can open.
 * @param {{values: ArrayLike<number>, most: number}} map
 */
export function pixelsSvg(map, width = map.columns.length, height = map.rows.length) {
  const canvas = element('canvas', { width, height });
  const drawn = width * height > mostExact ? coarse(map) : map;
  canvas.getContext('2d').putImageData(pixelsOf(drawn, width, height), 0, 0);
  return tag('image', {
    width,
    height,
    preserveAspectRatio: 'none',
    style: 'image-rendering: pixelated',
    href: canvas.toDataURL('image/png'),
  });
}

/** The map in 64 colours: the eye sees the same, and the file is half as large. */
function coarse({ values, most }) {
  const step = (most || 1) / 63;
  return { values: values.map((value) => Math.round(value / step) * step), most };
}

/** What the colours mean: a strip from the least value to the most. */
function colourScale(map, x, y, id) {
  const stops = stopsOf(map);
  const gradient = stops.map((colour, i) =>
    tag('stop', { offset: `${(100 * i) / (stops.length - 1)}%`, 'stop-color': colour }),
  );
  const [least, most] = endsOfScale(map);
  const start = map.signed ? 52 : 14;
  const text = (at, anchor, content) =>
    tag('text', { x: at, y: 7, 'text-anchor': anchor }, escape(content));
  return tag(
    'g',
    { transform: `translate(${x} ${y})`, fill: palette().muted, 'font-size': 11 },
    tag('linearGradient', { id }, ...gradient),
    text(start - 6, 'end', least),
    tag('rect', { x: start, width: stripWidth, height: 6, rx: 3, fill: `url(#${id})` }),
    text(start + stripWidth + 6, 'start', most),
  );
}
