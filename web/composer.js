// The sentence, how it is to be written, and what was written.
import { element } from './dom.js';
import { defaults, numbersIn, ranges, within } from './state.js';

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
  /** Changes only what is not so yet: what is new is read aloud, and a new button has no focus. */
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
    const { source: sentence, beam, top, start, target } = state;
    const request = JSON.stringify([sentence, beam, top, start, target]);
    if (request === shown) return;
    shown = request;
    source.value = sentence;
    for (const [name, input] of Object.entries(inputs)) input.value = state[name];
    fit(source);
  };
  showRequest(app.store.state); // one may type before the models are known
  return {
    /** Follows the state and the run. */
    update() {
      const { state } = app.store;
      showRequest(state);
      const { run } = app;
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
