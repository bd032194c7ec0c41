// One head across time: where it looks at each step, on the text itself, with a slider to play.
import { colourer, inkOn } from './colours.js';
import { element, player } from './dom.js';
import { Figure } from './figure.js';
import { latest } from './latest.js';
import { loadMap } from './maps.js';
import { tokenTexts } from './tokens.js';
import { heatMapSvg } from './vector.js';

const pace = 450; // milliseconds a step

/** @param {import('./main.js').App} app */
export function timeline(app) {
  const slider = element('input', {
    type: 'range',
    min: 0,
    'aria-label': 'Step',
    oninput: () => app.store.set({ step: Number(slider.value) }),
  });
  const play = player(() => {
    if (!map) return false;
    const last = map.rows.length - 1;
    app.store.set({ step: stepNow() === last ? 0 : stepNow() + 1 });
    return stepNow() < last;
  }, pace);
  const place = element('output', { className: 'place' });
  const looker = element('p', { className: 'flow', dir: 'auto' });
  const looked = element('p', { className: 'flow', dir: 'auto' });
  const trail = new Figure('The same head at all steps so far', app, {
    tallest: 0.25,
    onPin: (row, column) => app.store.set({ step: row < 0 ? stepNow() : row, column }),
  });
  const load = latest(app, () => clear());
  /** @type {?import('./maps.js').HeatMap} */
  let map = null;

  const stepNow = () => {
    const { step } = app.store.state;
    return step < 0 || step >= map.rows.length ? map.rows.length - 1 : step;
  };
  const titleNow = () => `${map.title}, step ${stepNow() + 1}`;
  const draw = () => {
    if (!map) return;
    const [step, columns, colour] = [stepNow(), map.columns.length, colourer(map)];
    slider.max = map.rows.length - 1;
    slider.value = step;
    place.textContent = `${step + 1} of ${map.rows.length}`;
    [...looker.children].forEach((token, i) => {
      token.className = i === step ? 'now' : i > step ? 'later' : '';
    });
    [...looked.children].forEach((token, i) => {
      const background = colour(map.values[step * columns + i]);
      token.style.background = background;
      token.style.color = inkOn(background);
    });
    reveal(looker, step);
    reveal(looked, strongest(map, step));
    const past = map.values.map((value, i) => (i < (step + 1) * columns ? value : 0));
    trail.show({ ...map, values: past });
    trail.pin(step, app.store.state.column);
  };
  const clear = () => {
    map = null;
    for (const text of [looker, looked, place]) text.replaceChildren();
    trail.clear();
  };
  const show = (loaded) => {
    map = loaded;
    const spans = (tokens) => tokenTexts(tokens).map((text) => element('span', {}, text));
    looker.replaceChildren(...spans(map.rows));
    looked.replaceChildren(...spans(map.columns));
    [...looker.children].forEach((token, step) => (token.onclick = () => app.store.set({ step })));
    draw();
  };
  return {
    node: element(
      'div',
      { className: 'timeline' },
      element('div', { className: 'transport' }, play.button, slider, place),
      element('h3', {}, 'This token'),
      looker,
      element('h3', {}, 'attends to'),
      looked,
      trail.node,
    ),
    draw,
    update() {
      const { run, selection } = app;
      const { path } = app.store.state;
      if (!run.done) return load.reset();
      if (map) draw();
      load(JSON.stringify([run.id, selection, path]), () => loadMap(run, selection, path), show);
    },
    leave() {
      play.stop();
      load.drop();
    },
    play: play.toggle,
    export: () =>
      map && {
        title: titleNow(),
        svg: () => heatMapSvg([{ ...trail.map, title: titleNow(), marked: stepNow() }]),
        data: { ...map, step: stepNow() },
      },
  };
}

/** The column a row looks at most. */
function strongest(map, row) {
  const weights = map.values.subarray(row * map.columns.length, (row + 1) * map.columns.length);
  return weights.indexOf(weights.reduce((most, weight) => Math.max(most, weight), -Infinity));
}

/** Scrolls a long text, and nothing else, so that one of its tokens is in sight. */
function reveal(text, place) {
  const token = text.children[place];
  const top = token.offsetTop - text.offsetTop;
  if (top < text.scrollTop || top + token.offsetHeight > text.scrollTop + text.clientHeight)
    text.scrollTop = top - text.clientHeight / 2;
}
