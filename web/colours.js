// Colours of the theme, read from the style sheet, and the scales that turn weights into colours.

const levels = 256;
let current = null;

/**
 * @typedef {{paper: string, ink: string, muted: string, line: string, accent: string,
 *   warm: string[], cold: string[], warmBytes: Uint32Array, coldBytes: Uint32Array}} Palette
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
 * The colour of a value, as CSS; negative values have a scale of their own.
 * @param {number} value
 * @param {number} most the value of the darkest colour
 */
export function colourOf(value, most) {
  const { warm, cold } = palette();
  return (value < 0 ? cold : warm)[levelOf(value, most)];
}

/**
 * Pixels of a matrix, one a cell.
 * @param {{values: ArrayLike<number>, most: number}} map
 * @param {number} width
 * @param {number} height
 * @returns {ImageData}
 */
export function pixelsOf({ values, most }, width, height) {
  const image = new ImageData(width, height);
  const out = new Uint32Array(image.data.buffer);
  const { warmBytes, coldBytes } = palette();
  for (let i = 0; i < out.length; ++i)
    out[i] = (values[i] < 0 ? coldBytes : warmBytes)[levelOf(values[i], most)];
  return image;
}

/** The place of |value| on a scale, 0 to 255. */
export function levelOf(value, most) {
  return Math.min(levels - 1, Math.round((Math.abs(value) / (most || 1)) * (levels - 1)));
}

function readPalette() {
  const probe = document.createElement('span');
  document.body.append(probe);
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
  };
  const scale = (name) => interpolate(['heat-0', 1, 2, 3, 4].map((stop) => read(typeof stop === 'string' ? stop : `${name}-${stop}`)));
  const names = ['paper', 'ink', 'muted', 'line', 'accent'];
  const plain = Object.fromEntries(names.map((name) => [name, css(read(name))]));
  const [warm, cold] = [scale('heat'), scale('cold')];
  probe.remove();
  return {
    ...plain,
    warm: warm.map(css),
    cold: cold.map(css),
    warmBytes: Uint32Array.from(warm, bytes),
    coldBytes: Uint32Array.from(cold, bytes),
  };
}

function interpolate(stops) {
  return Array.from({ length: levels }, (_, level) => {
    const place = (level / (levels - 1)) * (stops.length - 1);
    const left = Math.min(stops.length - 2, Math.floor(place));
    return stops[left].map((from, i) => Math.round(from + (stops[left + 1][i] - from) * (place - left)));
  });
}

const css = ([red, green, blue]) => `rgb(${red},${green},${blue})`;
const bytes = ([red, green, blue]) => (255 << 24) | (blue << 16) | (green << 8) | red;
