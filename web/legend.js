// The scale of colours under a map.
import { stopsOf } from './colours.js';
import { element } from './dom.js';
import { brief } from './numbers.js';

/** A strip from the smallest to the largest value of a map; nothing without one. */
export function legend() {
  const [least, strip, most] = [element('span'), element('i'), element('span')];
  const node = element('p', { className: 'legend' }, least, strip, most);
  const show = (map) => {
    node.hidden = !map;
    if (!map) return;
    strip.style.background = `linear-gradient(to right, ${stopsOf(map).join(', ')})`;
    least.textContent = map.signed ? brief(-map.most) : '0';
    most.textContent = brief(map.most);
  };
  return { node, show };
}
