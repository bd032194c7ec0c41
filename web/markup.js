// SVG as text, to be saved: elements, whole documents, and drawings of the page with their colours.
import { palette } from './colours.js';

const margin = 16;
const titleHeight = 28;
const styled = ['fill', 'stroke', 'stroke-width', 'stroke-opacity', 'font-size', 'font-weight'];

/** Text made safe for XML. */
export function escape(text) {
  return String(text)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '�')
    .replace(
      /[&<>"]/g,
      (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign],
    );
}

/**
 * An element as text. Numbers are rounded to what the eye can see.
 * @param {string} name
 * @param {Object<string, string|number>} attributes
 * @param {...string} content markup: what comes from people goes through `escape` first
 */
export function tag(name, attributes, ...content) {
  const value = (given) =>
    typeof given === 'number' ? Math.round(given * 100) / 100 : escape(given);
  const written = Object.entries(attributes).map(([key, given]) => ` ${key}="${value(given)}"`);
  return `<${name}${written.join('')}>${content.join('')}</${name}>`;
}

/** An SVG document around a body. */
export function svgDocument(width, height, ...body) {
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    'font-family': 'system-ui, sans-serif',
    'font-size': 13,
  };
  const ground = tag('rect', { width: '100%', height: '100%', fill: palette().paper });
  return tag('svg', attributes, '\n', ground, '\n', body.join('\n'), '\n');
}

/**
 * The title of a picture, at a place in it, and after it names in the colours they stand for.
 * @param {string} title
 * @param {number} x
 * @param {number} y
 * @param {Array<{name: string, colour: string}>} [names]
 */
export function heading(title, x, y, names = []) {
  const spans = names.map(({ name, colour }) =>
    tag('tspan', { dx: 16, fill: colour, 'font-weight': 400 }, escape(name)),
  );
  const attributes = { x, y, fill: palette().ink, 'font-weight': 600 };
  return tag('text', attributes, escape(title), ...spans);
}

/** @typedef {{width: number, height: number, body: string}} Part of a document */

/**
 * An SVG document of parts one beneath another.
 * @param {...Part} parts
 */
export function stackedSvg(...parts) {
  let [width, height] = [0, 0];
  const bodies = parts.map((part) => {
    const body = tag('g', { transform: `translate(0 ${height})` }, part.body);
    width = Math.max(width, part.width);
    height += part.height;
    return body;
  });
  return svgDocument(width, height, ...bodies);
}

/**
 * Drawings of the page one beneath another, with the colours of the style sheet written into them.
 * @param {Array<{drawing: SVGSVGElement, title?: string,
 *   names?: Array<{name: string, colour: string}>}>} drawings
 * @returns {Part}
 */
export function frozen(drawings) {
  let [width, height] = [0, margin];
  const bodies = drawings.map(({ drawing, title: text, names }) => {
    const title = text ? heading(text, margin, height + 14, names) : '';
    const y = height + (title ? titleHeight : 0);
    width = Math.max(width, drawing.width.baseVal.value);
    height = y + drawing.height.baseVal.value + margin;
    return title + tag('g', { transform: `translate(0 ${y})` }, freeze(drawing));
  });
  return { width, height, body: bodies.join('\n') };
}

/** A value that every reader of SVG knows. */
const plain = (value) => (value === 'rgba(0, 0, 0, 0)' ? 'none' : value);

function freeze(drawing) {
  const copy = drawing.cloneNode(true);
  const originals = drawing.querySelectorAll('*');
  copy.querySelectorAll('*').forEach((node, place) => {
    const style = getComputedStyle(originals[place]);
    for (const name of styled) node.setAttribute(name, plain(style.getPropertyValue(name)));
    node.removeAttribute('class');
  });
  const writer = new XMLSerializer();
  return Array.from(copy.childNodes, (node) => writer.serializeToString(node)).join('');
}
