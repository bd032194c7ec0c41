// The input, the options of the output, and the output.
import { element, field } from './dom.js';
import { isContinuing, readBy } from './pairs.js';
import { rememberInput } from './recent.js';
import {
  beamOf,
  defaults,
  numbersIn,
  otherInput,
  ranges,
  temperatureOf,
  textsIn,
  within,
} from './state.js';

const longFrom = 240; // letters
const $ = (id) => document.getElementById(id);

/** @param {import('./main.js').App} app */
export function composer(app) {
  const [form, source, written, options] = ['composer', 'source', 'written', 'options'].map($);
  const names = ['beam', 'top', 'tokens', 'temperature', 'seed', 'start', 'target'];
  const inputs = Object.fromEntries(names.map((name) => [name, $(name)]));

  for (const [name, [min, max]] of Object.entries(ranges))
    if (inputs[name]) Object.assign(inputs[name], { min, max });
  /** Before the models are known, none does. */
  const continues = () => app.models.length > 0 && isContinuing(app.model);
  const number = (name) =>
    within(Math.round(Number(inputs[name].value)) || defaults[name], ranges[name]);
  const beam = () => {
    const asked = number('beam');
    return asked === beamOf(defaults, continues()) ? defaults.beam : asked;
  };

  const others = otherTexts($('others'));
  const isOther = () => source.value.trim() !== app.store.state.source;
  /** What was given for another sentence is not meant for this one. */
  const given = (name) => {
    const { value } = inputs[name];
    return isOther() && value === app.store.state[name] ? '' : value;
  };
  const givenIds = () => (isOther() || inputs.start.value ? '' : app.store.state.startIds);
  const submit = () => {
    const input = { source: source.value.trim(), others: others.value() };
    if (app.models.length) rememberInput(app.model, input);
    app.rerun({
      ...otherInput,
      ...input,
      beam: beam(),
      top: number('top'),
      tokens: number('tokens'),
      temperature: String(temperatureOf({ temperature: inputs.temperature.value })),
      seed: number('seed'),
      // The text itself is the beginning of what a language model writes.
      start: continues() ? '' : given('start'),
      startIds: continues() ? '' : givenIds(),
      target: given('target'),
    });
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (isWriting(app.run)) stop(app);
    else submit();
  });
  source.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') return source.blur();
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  source.addEventListener('input', () => fit(source));
  addEventListener('resize', () => fit(source));

  const text = element('span');
  const buttons = Array.from({ length: 3 }, () =>
    element('button', { type: 'button', className: 'quiet', hidden: true }),
  );
  $('ways').append(...buttons);
  /** Changes only what differs: what is new is read aloud, and a new button has no focus. */
  const showOutput = (run) => {
    const { state } = app.store;
    const ways = run?.done ? waysOn(app, run, state) : [];
    setText(text, run?.text(state.path) ?? '');
    buttons.forEach((button, i) => {
      const [name, go] = ways[i] ?? [''];
      setText(button, name);
      [button.onclick, button.hidden] = [go, !name];
    });
    const parts = run ? [text] : [];
    if (parts.length !== written.childNodes.length) written.replaceChildren(...parts);
  };
  let shown = '';
  /** Follows what the state asks for, and leaves alone what is being typed meanwhile. */
  const showRequest = (state) => {
    const { source: sentence, others: more } = state;
    const settings = { ...state, beam: beamOf(state, continues()) };
    const request = JSON.stringify([sentence, more, ...names.map((name) => settings[name])]);
    if (request === shown) return;
    shown = request;
    source.value = sentence;
    for (const [name, input] of Object.entries(inputs)) input.value = settings[name];
    others.fill(textsIn(more));
    fit(source);
  };
  showRequest(app.store.state); // one may type before the models are known
  return {
    /** Follows the state and the run. */
    update() {
      const { state } = app.store;
      const { run, model } = app;
      const [first, ...further] = readBy(model);
      others.show(further);
      showRequest(state);
      inputs.start.parentElement.hidden = !first; // the text itself is the beginning
      inputs.tokens.parentElement.hidden = !isContinuing(model);
      for (const name of ['temperature', 'seed']) inputs[name].parentElement.hidden = !model.writes;
      setText($('write'), isWriting(run) ? 'Stop' : model.writes ? 'Write' : 'Run');
      source.placeholder = first || !model.writes ? 'Type an input' : 'Type the beginning of a text';
      setText(options.querySelector('summary'), summary(state, run, model));
      written.setAttribute('aria-busy', isWriting(run));
      written.classList.toggle('writing', isWriting(run));
      showOutput(run);
    },
    focus() {
      source.focus();
      source.select();
    },
  };
}

/** Fields for what a model reads beside the sentence; few models read anything. */
function otherTexts(node) {
  const inputs = () => [...node.querySelectorAll('input')];
  let shown = '';
  let texts = [];
  const fill = (given) => {
    texts = given;
    inputs().forEach((input, i) => (input.value = texts[i] ?? ''));
  };
  return {
    /** @param {string[]} names */
    show(names) {
      if (names.join() === shown) return;
      shown = names.join();
      const make = (name) => field(name, element('input', { dir: 'auto', spellcheck: false }));
      node.replaceChildren(...names.map(make));
      fill(texts);
    },
    fill,
    value() {
      const given = inputs().map((input) => input.value.trim());
      return given.some(Boolean) ? JSON.stringify(given) : '';
    },
  };
}

const isWriting = (run) => Boolean(run && !run.done && !run.stopped);

/** The tokens of a run so far, to begin another with. */
const idsOf = (run, path) =>
  run
    .path(path)
    .filter(({ ends }) => !ends)
    .map((node) => node.token_id)
    .join(',');

/** Keeps what is written so far, and writes no more. */
function stop(app) {
  const startIds = idsOf(app.run, '') || 'none';
  app.rerun({ startIds, start: '', target: '', path: '', halt: 1 });
}

/** Where one can go from an output: the names of ways and what they do. */
function waysOn(app, run, { path, start, startIds, target, temperature, seed }) {
  const isContinued = isContinuing(run.model);
  const ways = [];
  const last = run.path(path).at(-1);
  if (isContinued && last && !last.ends && !target)
    ways.push([
      'write more',
      () => app.rerun({ startIds: idsOf(run, path), start: '', path: '', halt: 0 }),
    ]);
  if (isContinued && Number(temperature) > 0 && !startIds)
    ways.push(['another sample', () => app.rerun({ seed: (seed % ranges.seed[1]) + 1 })]);
  if (path) ways.push(['back to the best output', () => app.store.set({ path: '' })]);
  else if (start || startIds)
    ways.push([
      isContinued ? 'back to the prompt' : 'without the given beginning',
      () => app.rerun({ start: '', startIds: '', halt: 0 }),
    ]);
  return ways;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function summary(state, run, model) {
  const { top, start, startIds, target, tokens, seed } = state;
  const isContinued = isContinuing(model);
  const [beam, temperature] = [beamOf(state, isContinued), temperatureOf(state)];
  const search = beam > 1 ? `Beam of ${beam}` : 'Greedy';
  const words = [temperature ? `Temperature ${temperature}, seed ${seed}` : search];
  if (isContinued) words.push(`${tokens} tokens`);
  words.push(`${top} candidates a step`);
  const count = numbersIn(startIds).length;
  const beginning = isContinued ? '' : (count ? run?.beginning(count) : '') + start;
  if (beginning) words.push(`begins with “${beginning}”`);
  if (target) words.push('output given');
  return words.join(' · ');
}

/** Makes a text area as high as its text; a long text is set small. */
function fit(area) {
  area.form.classList.toggle('long', area.value.length > longFrom);
  area.style.height = 'auto';
  area.style.height = `${area.scrollHeight + 2}px`;
}
