// Heat maps as SVG, side by side, made of real vectors.
import { colourer, levelOf, palette } from './colours.js';
import { escape, heading, svgDocument, tag } from './markup.js';
import { mostOf, roomForLabels, shortLabels } from './paint.js';
import { number } from './readout.js';

const [margin, gap, titleHeight] = [16, 32, 28];
const [smallestCell, largestCell, lineHeight] = [2, 24, 15];
const mostNamed = 4096; // cells; larger maps are a path a colour, without a title a cell

/**
 * Maps side by side.
 * @param {import('./maps.js').HeatMap[]} maps
 */
export function heatMapSvg(maps) {
  const labels = maps.map(({ rows, columns }) => ({
    rows: shortLabels(rows),
    columns: shortLabels(columns),
  }));
  const room = labels.map(({ rows, columns }) => roomForLabels(rows, columns)).reduce(mostOf);
  let [x, tallest] = [margin, 0];
  const bodies = maps.map((map, i) => {
    const longest = Math.max(map.rows.length, map.columns.length);
    const size = Math.max(smallestCell, Math.min(largestCell, 960 / longest));
    const body = tag(
      'g',
      { transform: `translate(${x} ${margin})` },
      drawMap(map, labels[i], room, size),
    );
    x += Math.ceil(room.left + map.columns.length * size + room.right + gap);
    tallest = Math.max(tallest, Math.ceil(titleHeight + room.top + map.rows.length * size));
    return body;
  });
  return svgDocument(x - gap + margin, tallest + 2 * margin, ...bodies);
}

function drawMap(map, labels, room, size) {
  const [left, top] = [room.left, room.top + titleHeight];
  const step = Math.ceil(lineHeight / size);
  const thin = (texts, draw) =>
    texts.map((text, i) => (i % step ? '' : draw(escape(text), (i + 0.5) * size)));
  const rows = thin(labels.rows, (text, y) =>
    tag('text', { x: left - 8, y: top + y + 4, 'text-anchor': 'end' }, text),
  );
  const columns = thin(labels.columns, (text, x) =>
    tag('text', { transform: `translate(${left + x + 3} ${top - 6}) rotate(-45)` }, text),
  );
  const cells = map.values.length <= mostNamed ? namedCells(map) : colouredPaths(map);
  return [
    heading(map.title, 0, 14),
    tag('g', { fill: palette().muted }, ...rows, ...columns),
    tag('g', { transform: `translate(${left} ${top}) scale(${size})` }, ...cells),
  ].join('');
}

/** A rectangle a cell, which says its value when pointed at. */
function namedCells(map) {
  const { rows, columns, values } = map;
  const colour = colourer(map);
  return rows.flatMap((row, y) =>
    columns.map((column, x) => {
      const value = values[y * columns.length + x];
      const title = tag('title', {}, escape(`${row} → ${column}: ${number(value)}`));
      return tag('rect', { x, y, width: 0.96, height: 0.96, fill: colour(value) }, title);
    }),
  );
}

/** A path a colour; neighbours of one colour are one stroke. A quarter of the levels will do. */
function colouredPaths(map) {
  const { rows, columns, values, most } = map;
  const strokes = new Map();
  const width = columns.length;
  const levelAt = (i) => Math.sign(values[i]) * (levelOf(values[i], most) & ~3);
  for (let row = 0; row < rows.length; ++row) {
    for (let column = 0, end; column < width; column = end) {
      const level = levelAt(row * width + column);
      for (end = column + 1; end < width && levelAt(row * width + end) === level; ++end);
      if (!strokes.has(level)) strokes.set(level, []);
      strokes.get(level).push(`M${column} ${row}h${end - column}v1h${column - end}z`);
    }
  }
  const { above, below } = palette();
  return Array.from(strokes, ([level, path]) =>
    tag('path', { fill: (level < 0 ? below : above).css[Math.abs(level)], d: path.join('') }),
  );
}
