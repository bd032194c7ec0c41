// The sentence, the options of the output, and the output.
import { element, field } from './dom.js';
import { readBy } from './pairs.js';
import { defaults, numbersIn, ranges, textsIn, within } from './state.js';

const longFrom = 240; // letters
const $ = (id) => document.getElementById(id);

/** @param {import('./main.js').App} app */
export function composer(app) {
  const [form, source, written, options] = ['composer', 'source', 'written', 'options'].map($);
  const inputs = { beam: $('beam'), top: $('top'), start: $('start'), target: $('target') };

  for (const [name, [min, max]] of Object.entries(ranges))
    Object.assign(inputs[name], { min, max });
  const number = (name) =>
    within(Math.round(Number(inputs[name].value)) || defaults[name], ranges[name]);

  const others = otherTexts($('others'));
  const isOther = () => source.value.trim() !== app.store.state.source;
  /** What was given for another sentence is not meant for this one. */
  const given = (name) => {
    const { value } = inputs[name];
    return isOther() && value === app.store.state[name] ? '' : value;
  };
  const givenIds = () => (isOther() || inputs.start.value ? '' : app.store.state.startIds);
  const submit = () =>
    app.rerun({
      source: source.value.trim(),
      others: others.value(),
      beam: number('beam'),
      top: number('top'),
      start: given('start'),
      startIds: givenIds(),
      target: given('target'),
      path: '',
      source2: '',
      row: -1,
      column: -1,
      zoom: 100,
      step: -1,
    });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    submit();
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
  const way = element('button', { type: 'button', className: 'quiet' });
  /** Changes only what differs: what is new is read aloud, and a new button has no focus. */
  const showOutput = (run) => {
    const { state } = app.store;
    const [name, go] = (run?.done && wayBack(app, state)) || [''];
    setText(text, run?.text(state.path) ?? '');
    setText(way, name);
    way.onclick = go;
    const parts = name ? [text, ' ', way] : run ? [text] : [];
    if (parts.length !== written.childNodes.length) written.replaceChildren(...parts);
  };
  let shown = '';
  /** Follows what the state asks for, and leaves alone what is being typed meanwhile. */
  const showRequest = (state) => {
    const { source: sentence, others: more, beam, top, start, target } = state;
    const request = JSON.stringify([sentence, more, beam, top, start, target]);
    if (request === shown) return;
    shown = request;
    source.value = sentence;
    for (const [name, input] of Object.entries(inputs)) input.value = state[name];
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
      source.placeholder = first || !model.writes ? 'Type a sentence' : 'Type a text to continue';
      setText(options.querySelector('summary'), summary(state, run));
      const isWriting = Boolean(run && !run.done && !run.stopped);
      written.setAttribute('aria-busy', isWriting);
      written.classList.toggle('writing', isWriting);
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

/** The way from an output that was chosen to the model's own: its name and what it does. */
function wayBack(app, { path, start, startIds }) {
  if (path) return ['back to the best', () => app.store.set({ path: '' })];
  if (start || startIds)
    return ['without the given beginning', () => app.rerun({ start: '', startIds: '' })];
  return null;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function summary({ beam, top, start, startIds, target }, run) {
  const words = [`Beam ${beam}`, `${top} candidates`];
  const beginning = startIds ? run?.beginning(numbersIn(startIds).length) : start;
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
