// Each token of a text hidden in turn, and what a masked language model would write there.
import { getMasked } from './api.js';
import { cardsSvg } from './cards.js';
import { colourer, inkOn } from './colours.js';
import { element } from './dom.js';
import { latest } from './latest.js';
import { legend } from './legend.js';
import { percent, weight } from './numbers.js';
import { sequenceOf } from './pairs.js';
import { choiceText, tokenTexts } from './tokens.js';

const arrows = { ArrowLeft: -1, ArrowRight: 1 };
const scale = { values: new Float32Array([0, 1]), most: 1 };

/**
 * A place; `probability` and `rank` are of the token that stands there.
 * @typedef {{sequence: string, item: number, token: string, likeliest: Array<[string, number]>,
 *   probability: number, rank: number}} Place
 */

/** @param {import('./main.js').App} app */
export function maskedView(app) {
  const { store } = app;
  const hint = element('p', { className: 'hint' });
  const texts = element('div', { className: 'masked' });
  const colours = legend();
  const list = element('ol', { className: 'candidates' });
  /** @type {Place[]} */
  let places = [];
  let shown = -1; // the place whose card was last scrolled to
  const load = latest(app, () => show([]));

  const paint = () => {
    const colour = colourer(scale);
    const chosen = store.state.place;
    texts.querySelectorAll('button').forEach((button, place) => {
      const background = colour(places[place].probability);
      button.style.background = background;
      button.style.color = inkOn(background);
      button.setAttribute('aria-pressed', place === chosen);
      button.tabIndex = place === Math.max(chosen, 0) ? 0 : -1;
      list.children[place].classList.toggle('now', place === chosen);
    });
    if (places.length) colours.show(scale);
    if (chosen === shown) return;
    shown = chosen;
    list.children[chosen]?.scrollIntoView({ block: 'nearest' });
  };
  const show = (all) => {
    places = all;
    hint.textContent = all.length
      ? 'Each token is hidden in turn, and the model tells what it would write there. The stronger the ' +
        'colour of a token, the more probable the model finds it there. Click one to find its card.'
      : '';
    colours.node.hidden = !all.length;
    const names = [...new Set(all.map(({ sequence }) => sequence))];
    texts.replaceChildren(...names.map((name) => sentence(all, name, names.length > 1, store)));
    list.replaceChildren(...all.map((place) => card(place, kindOf(app.model, place))));
    shown = store.state.place;
    paint();
  };
  texts.addEventListener('keydown', (event) => {
    const by = arrows[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    const buttons = [...texts.querySelectorAll('button')];
    const place = buttons.indexOf(event.target) + by;
    if (!buttons[place]) return;
    store.set({ place });
    buttons[place].focus();
    event.preventDefault();
  });
  return {
    node: element('div', {}, hint, texts, colours.node, list),
    draw: paint,
    update() {
      const { run } = app;
      if (!run.done) return load.reset();
      load(run.id, () => getMasked(run.number, store.state.top), ({ places: all }) => show(all));
      if (places.length) paint();
    },
    leave: load.drop,
    export: () =>
      places.length && {
        title: 'masked tokens',
        svg: () => cardsSvg(places.map((place) => pictureOf(place, kindOf(app.model, place)))),
        data: places,
      },
  };
}

/** The tokens of one text as buttons. */
function sentence(places, name, isNamed, store) {
  const own = places.filter(({ sequence }) => sequence === name);
  const first = places.indexOf(own[0]);
  const names = tokenTexts(own.map(({ token }) => token));
  const buttons = own.map(({ probability, rank }, i) =>
    element(
      'button',
      {
        type: 'button',
        title: `probability ${weight(probability)}, rank ${rank}`,
        onclick: () => store.set({ place: first + i }),
      },
      names[i],
    ),
  );
  const flow = element('p', { className: 'flow', dir: 'auto' }, ...buttons);
  return element('section', {}, ...(isNamed ? [element('h3', {}, name)] : []), flow);
}

/** What is shown of a place: its token, the likeliest ones, and its own below if it is none of them. */
function entriesOf({ token, likeliest, probability }, tokenizer) {
  const entries = likeliest.map(([name, share]) => ({ name, probability: share, chosen: name === token }));
  if (!entries.some(({ chosen }) => chosen))
    entries.push({ name: token, probability, chosen: true });
  return entries.map((entry) => ({ ...entry, name: choiceText(entry.name, tokenizer) }));
}

/** The kind of the tokens of a place. */
const kindOf = ({ sequences }, { sequence }) => sequenceOf(sequences, sequence).tokenizer;

/** @param {Place} place */
function card(place, tokenizer) {
  const entries = entriesOf(place, tokenizer).map(({ name, probability, chosen }) => {
    const bar = element('i');
    bar.style.transform = `scaleX(${probability})`;
    return element(
      'li',
      chosen ? { 'aria-current': 'true' } : {},
      element('bdi', {}, name),
      bar,
      element('span', {}, `${percent(probability)} %`),
    );
  });
  const heading = element(
    'h3',
    {},
    element('bdi', {}, choiceText(place.token, tokenizer)),
    ` · rank ${place.rank}`,
  );
  return element('li', { className: 'card place' }, heading, element('ol', {}, ...entries));
}

/** @returns {import('./cards.js').Card} */
const pictureOf = (place, tokenizer) => ({
  title: `${choiceText(place.token, tokenizer)} · rank ${place.rank}`,
  bars: entriesOf(place, tokenizer),
});
