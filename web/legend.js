// The scale of colours under a map.
import { stopsOf } from './colours.js';
import { element } from './dom.js';
import { brief } from './numbers.js';

/** What stands at both ends of the scale of a map. */
export function endsOfScale(map) {
  if (map.byRow) return [map.signed ? 'against' : '0', 'for, each row by itself'];
  return [map.signed ? brief(-map.most) : '0', brief(map.most)];
}

/** A strip from the smallest to the largest value of a map; nothing without one. */
export function legend() {
  const [least, strip, most] = [element('span'), element('i'), element('span')];
  const node = element('p', { className: 'legend' }, least, strip, most);
  const show = (map) => {
    node.hidden = !map;
    if (!map) return;
    strip.style.background = `linear-gradient(to right, ${stopsOf(map).join(', ')})`;
    [least.textContent, most.textContent] = endsOfScale(map);
  };
  return { node, show };
}
