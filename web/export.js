// A view as a file: SVG, PNG, a page that stands alone, or JSON; all made here, in the browser.
import { inkOn, palette } from './colours.js';
import { element } from './dom.js';
import { escape } from './markup.js';

/**
 * What a view gives to be saved. Its `origin` says what differs from the sentence on the page.
 * @typedef {{title: string, svg: function(): string, data: Object,
 *   origin?: Partial<Origin>}} Picture
 */
/**
 * Where a picture came from; the second of two that are compared.
 * @typedef {{model: string, source?: string, output?: string, note: string, link: string,
 *   second?: {model: string, source: string, output: string}}} Origin
 */

/**
 * Saves a picture.
 * @param {'svg'|'png'|'html'|'json'} format
 * @param {Picture} picture
 * @param {Origin} origin where it came from
 */
export async function save(format, picture, origin) {
  const blob = await makers[format](picture, { ...origin, ...picture.origin });
  const address = URL.createObjectURL(blob);
  const name = picture.title.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '');
  element('a', { href: address, download: `attend-${name}.${format}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

const makers = {
  svg: async (picture) => new Blob([picture.svg()], { type: 'image/svg+xml' }),
  png: async (picture) => rasterize(picture.svg()),
  html: async (picture, origin) => new Blob([page(picture, origin)], { type: 'text/html' }),
  json: async ({ title, data }, origin) =>
    new Blob([JSON.stringify({ title, ...origin, data }, plainly, 1)], {
      type: 'application/json',
    }),
};

const sharpness = 2; // pixels of the PNG for one of the SVG
const widest = 8192; // pixels; browsers refuse much larger pictures
const readable = 0.5; // pixels for one of the SVG; text in fewer is dust

async function rasterize(source) {
  const image = new Image();
  const address = URL.createObjectURL(new Blob([source], { type: 'image/svg+xml' }));
  image.src = address;
  await image.decode();
  const scale = Math.min(sharpness, widest / Math.max(image.width, image.height));
  URL.revokeObjectURL(address);
  if (scale < readable) throw new Error('Too large for a legible PNG: save an SVG instead.');
  const canvas = element('canvas', {
    width: Math.round(image.width * scale),
    height: Math.round(image.height * scale),
  });
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (!blob) throw new Error('The browser cannot make a PNG this large: save an SVG instead.');
  return blob;
}

const mostData = 4e6; // letters; a page with more is slow to open, and JSON holds them too

function page(picture, { model, source, output, second, note }) {
  const { paper, ink } = palette();
  const scheme = inkOn(paper) === '#fff' ? 'dark' : 'light';
  const data = JSON.stringify(picture.data, plainly).replaceAll('<', '\\u003c');
  const kept =
    data.length > mostData ? '' : `<script type="application/json">${data}</script>\n`;
  const sides = [{ model, source, output }, ...(second ? [second] : [])];
  const names = [...new Set(sides.map((side) => side.model))];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${escape(picture.title)}</title>
<style>
  html { background: ${paper}; color: ${ink}; color-scheme: ${scheme}; }
  body { max-width: 72rem; margin: 3rem auto; padding: 0 1.5rem; }
  body { font: 16px/1.5 system-ui, sans-serif; }
  svg { max-width: 100%; height: auto; }
  p { max-width: 46rem; max-height: 12rem; overflow: auto; }
</style>
<h1>${escape(picture.title)}</h1>
${sides.map(sentences).join('')}${picture.svg()}
<p><small>${escape(names.join(', '))}. ${escape(note)}</small></p>
${kept}</html>
`;
}

function sentences({ source, output }) {
  if (!source) return '';
  return `<p dir="auto">${escape(source)}<br><strong>${escape(output)}</strong></p>\n`;
}

/** A map's values row by row. Nine digits give a float32 back exactly. */
function plainly(_, value) {
  if (!(value?.values instanceof Float32Array)) return value;
  const width = value.columns.length;
  const row = (_, i) =>
    Array.from(value.values.subarray(i * width, (i + 1) * width), (weight) =>
      Number(weight.toPrecision(9)),
    );
  return { ...value, values: value.rows.map(row) };
}
