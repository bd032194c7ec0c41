// The head view: hover or focus a token to see where it looks and who looks at it.
import { palette } from './colours.js';
import { element, isTouched } from './dom.js';
import { followMap } from './follow.js';
import { isCrowded, labelsOf, layoutOf, Lines, linesOf, sidesOf } from './lines.js';
import { escape, heading, svgDocument, tag } from './markup.js';
import { isSelf } from './pairs.js';
import { Readout } from './readout.js';

/** @param {import('./main.js').App} app */
export function headView(app) {
  const act = isTouched ? 'Tap' : 'Point at';
  const readout = new Readout(`${act} a token to see what it attends to and what attends to it.`, false);
  const lines = new Lines({
    onSpare: (width) => node.style.setProperty('--spare', `${width}px`),
    onPoint(side, index) {
      const sides = sidesOf(lines.map, side);
      readout.show(
        lines.map,
        sides.includes('rows') ? index : -1,
        sides.includes('columns') ? index : -1,
      );
    },
    onPin(side, index) {
      app.store.set(side === 'rows' ? { side, row: index } : { side, column: index });
      if (index >= 0)
        app.announce(`${lines.map[side][index]}, ${index + 1} of ${lines.map[side].length}`);
    },
  });
  const hint = element(
    'p',
    { className: 'hint', hidden: true },
    'Only the strongest lines are drawn; the token in focus has more.',
  );
  const node = element(
    'div',
    { className: 'beside' },
    element('div', { className: 'stage' }, hint, lines.sides, lines.node),
    readout.node,
  );
  const show = (map) => {
    hint.hidden = !isCrowded(map);
    lines.show({ ...map, isSelf: isSelf(app.selection.pair) });
    const { side, row, column } = app.store.state;
    if (side === 'columns') lines.pin(side, column);
    else lines.pin('rows', row);
  };
  const clear = () => {
    lines.clear();
    hint.hidden = true;
    readout.show(null, -1, -1);
  };
  return {
    node,
    draw: () => lines.draw(),
    ...followMap(app, show, clear),
    export: () =>
      lines.map && {
        title: `${lines.map.title}, lines`,
        svg: () => linesSvg(lines.map),
        data: lines.map,
      },
  };
}

function linesSvg(map) {
  const [width, top] = [760, 44];
  const layout = layoutOf(map, width);
  const { left, right, height } = layout;
  const { accent, ink } = palette();
  const bend = (right - left) * 0.4;
  const paths = linesOf(map, layout).map(({ weight, y1, y2 }) => {
    const [from, to] = [y1.toFixed(1), y2.toFixed(1)];
    const curve = `C${left + bend} ${from} ${right - bend} ${to} ${right - 4} ${to}`;
    const d = `M${left + 4} ${from}${curve}`;
    return tag('path', { d, opacity: weight, 'stroke-width': 0.5 + 2.5 * weight });
  });
  const labels = labelsOf(map, layout);
  const column = (texts, step, x, anchor) =>
    texts.map((text, i) =>
      tag('text', { x, y: (i + 0.5) * step + 4, 'text-anchor': anchor }, escape(text)),
    );
  const tokens = [
    ...column(labels.rows, layout.rows, left - 4, 'end'),
    ...column(labels.columns, layout.columns, right + 4, 'start'),
  ];
  const lines = tag('g', { fill: 'none', stroke: accent }, ...paths);
  const body = tag(
    'g',
    { transform: `translate(0 ${top})` },
    lines,
    tag('g', { fill: ink }, ...tokens),
  );
  return svgDocument(width, height + top + 12, heading(map.title, 16, 28), body);
}
