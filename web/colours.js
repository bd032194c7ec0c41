// Colours of the theme, read from the style sheet, and the scales that turn weights into colours.

const levels = 256;
let current = null;

/**
 * A scale has 256 colours from nothing to the most, as CSS and as pixels. `above` is for weights and
 * all values above zero, `below` for those below it.
 * @typedef {{css: string[], pixels: Uint32Array}} Scale
 * @typedef {{paper: string, ink: string, muted: string, line: string, accent: string,
 *   contrary: string, above: Scale, below: Scale}} Palette
 */

/**
 * The colours of the theme that is on.
 * @returns {Palette}
 */
export function palette() {
  current ??= readPalette();
  return current;
}

/** Forgets the colours read: the theme has changed. */
export function forgetPalette() {
  current = null;
}

/**
 * Gives the function from a value of a map to its colour, as CSS.
 * @param {{most: number}} map
 * @returns {function(number): string}
 */
export function colourer(map) {
  const { above, below } = palette();
  return (value) => (value < 0 ? below : above).css[levelOf(value, map.most)];
}

/**
 * A map as it is coloured: one whose rows have scales of their own, in parts of their largest values.
 * @param {import('./maps.js').HeatMap} map
 */
export function scaled(map) {
  if (!map.byRow) return map;
  const width = map.columns.length;
  const values = new Float32Array(map.values.length);
  map.rows.forEach((_, row) => {
    const own = map.values.subarray(row * width, (row + 1) * width);
    const most = own.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) || 1;
    own.forEach((value, column) => (values[row * width + column] = value / most));
  });
  return { ...map, values, most: 1 };
}

/** Black or white, whichever reads better on a colour given as CSS. */
export function inkOn(colour) {
  const [red, green, blue] = colour.match(/\d+/g).map((byte) => {
    const share = byte / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return luminance > 0.179 ? '#000' : '#fff';
}

/**
 * Pixels of a matrix, one a cell.
 * @param {{values: ArrayLike<number>, most: number}} map
 * @param {number} width
 * @param {number} height
 * @returns {ImageData}
 */
export function pixelsOf(map, width, height) {
  const { values, most } = map;
  const image = new ImageData(width, height);
  const out = new Uint32Array(image.data.buffer);
  const { above, below } = palette();
  const scale = (levels - 1) / (most || 1);
  for (let i = 0; i < out.length; ++i) {
    const level = Math.min(levels - 1, (Math.abs(values[i]) * scale + 0.5) | 0);
    out[i] = (values[i] < 0 ? below : above).pixels[level];
  }
  return image;
}

/**
 * Colours from the least value of a map to the most, for a gradient.
 * @param {{signed?: boolean}} map
 * @returns {string[]}
 */
export function stopsOf({ signed }) {
  const { above, below } = palette();
  const stops = [0, 64, 128, 192, 255].map((level) => above.css[level]);
  return signed ? [...[255, 192, 128, 64].map((level) => below.css[level]), ...stops] : stops;
}

/** The place of |value| on a scale, 0 to 255. */
function levelOf(value, most) {
  return Math.min(levels - 1, Math.round((Math.abs(value) / (most || 1)) * (levels - 1)));
}

function readPalette() {
  const probe = document.createElement('span');
  document.body.append(probe);
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe)
      .color.match(/[\d.]+/g)
      .slice(0, 3)
      .map(Number);
  };
  const scale = (name) => {
    const stops = Array.from({ length: 8 }, (_, i) => read(`${name}-${i + 1}`));
    const colours = interpolate([read('nothing'), ...stops]);
    return { css: colours.map(css), pixels: Uint32Array.from(colours, pixel) };
  };
  const plain = ['paper', 'ink', 'muted', 'line', 'accent', 'contrary'].map((name) => [name, css(read(name))]);
  const colours = {
    ...Object.fromEntries(plain),
    above: scale('above'),
    below: scale('below'),
  };
  probe.remove();
  return colours;
}

function interpolate(stops) {
  return Array.from({ length: levels }, (_, level) => {
    const place = (level / (levels - 1)) * (stops.length - 1);
    const left = Math.min(stops.length - 2, Math.floor(place));
    return stops[left].map((from, i) =>
      Math.round(from + (stops[left + 1][i] - from) * (place - left)),
    );
  });
}

const css = ([red, green, blue]) => `rgb(${red},${green},${blue})`;
const pixel = ([red, green, blue]) => (255 << 24) | (blue << 16) | (green << 8) | red;
