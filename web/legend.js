// The scale of colours under a map.
import { palette } from './colours.js';
import { element } from './dom.js';

/** A strip from the smallest to the largest value of a map. */
export function legend() {
  const [least, strip, most] = [element('span'), element('i'), element('span')];
  const node = element('p', { className: 'legend' }, least, strip, most);
  const show = (map) => {
    const { above, below } = palette();
    const stops = [0, 64, 128, 192, 255].map((level) => above.css[level]);
    if (map.signed) stops.unshift(...[255, 192, 128, 64].map((level) => below.css[level]));
    strip.style.background = `linear-gradient(to right, ${stops.join(', ')})`;
    least.textContent = map.signed ? (-map.most).toFixed(2) : '0';
    most.textContent = map.most.toFixed(2);
  };
  return { node, show };
}
