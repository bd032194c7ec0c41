// Cards of candidates as a picture: a bar for each, as long as its probability.
import { palette } from './colours.js';
import { escape, svgDocument, tag } from './markup.js';
import { percent } from './numbers.js';
import { fitted } from './paint.js';

const perRow = 5;

/**
 * @typedef {{title: string, bars: Array<{name: string, probability: number, chosen: boolean}>}} Card
 * @param {Card[]} cards
 */
export function cardsSvg(cards) {
  const { ink, muted, accent } = palette();
  const [margin, width, rowHeight] = [16, 190, 20];
  const longest = Math.max(...cards.map(({ bars }) => bars.length));
  const height = longest * rowHeight + 40;
  const drawn = cards.map((card, place) => {
    const bars = card.bars.map(({ name, probability, chosen }, i) =>
      tag(
        'g',
        { transform: `translate(0 ${24 + i * rowHeight})` },
        tag('text', { y: 12, fill: chosen ? accent : ink }, escape(fitted(name, 76))),
        tag('rect', {
          x: 84,
          y: 3,
          width: probability * 60,
          height: 10,
          fill: chosen ? accent : muted,
        }),
        tag('text', { x: 150, y: 12, fill: muted }, escape(`${percent(probability)} %`)),
      ),
    );
    const [x, y] = [margin + (place % perRow) * width, margin + Math.floor(place / perRow) * height];
    const title = tag('text', { y: 12, fill: muted }, escape(fitted(card.title, width - margin)));
    return tag('g', { transform: `translate(${x} ${y})` }, title, ...bars);
  });
  const rows = Math.ceil(cards.length / perRow);
  return svgDocument(perRow * width + margin, rows * height + margin, ...drawn);
}
