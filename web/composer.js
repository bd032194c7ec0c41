// The sentence, how it is to be written, and what was written.
import { element } from './dom.js';
import { spell } from './tokens.js';

const longFrom = 240; // letters
const $ = (id) => document.getElementById(id);

/** @param {import('./main.js').App} app */
export function composer(app) {
  const [form, source, written, options] = ['composer', 'source', 'written', 'options'].map($);
  const inputs = { beam: $('beam'), top: $('top'), start: $('start'), target: $('target') };

  /** What was given for another sentence is not meant for this one. */
  const given = (name) => {
    const { state } = app.store;
    const isLeftOver = source.value.trim() !== state.source && inputs[name].value === state[name];
    return isLeftOver ? '' : inputs[name].value;
  };
  const submit = () =>
    app.rerun({
      source: source.value.trim(),
      beam: within(inputs.beam, 4),
      top: within(inputs.top, 5),
      start: given('start'),
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

  let shown = null;
  return {
    /** Follows the state and the run. */
    update() {
      const { state } = app.store;
      const request = JSON.stringify([
        state.source,
        state.beam,
        state.top,
        state.start,
        state.target,
      ]);
      if (request !== shown) {
        shown = request;
        source.value = state.source;
        for (const [name, input] of Object.entries(inputs)) input.value = state[name];
        options.querySelector('summary').textContent = summary(state);
        fit(source);
      }
      const { run } = app;
      const isWriting = Boolean(run && !run.done && !run.stopped);
      written.setAttribute('aria-busy', isWriting);
      written.classList.toggle('writing', isWriting);
      written.replaceChildren(...(run ? output(app, run) : []));
    },
    focus() {
      source.focus();
      source.select();
    },
  };
}

function output(app, run) {
  const { path, start } = app.store.state;
  const text = element('span', {}, run.text(path));
  const way = (name, onclick) => [
    ' ',
    element('button', { type: 'button', className: 'quiet', onclick }, name),
  ];
  if (!run.done) return [text];
  if (path) return [text, ...way('back to the best', () => app.store.set({ path: '' }))];
  if (start) return [text, ...way('without the given beginning', () => app.rerun({ start: '' }))];
  return [text];
}

function summary({ beam, top, start, target }) {
  const words = [`Beam ${beam}`, `${top} candidates`];
  if (start) words.push(`begins with “${spell([start])}”`);
  if (target) words.push('output given');
  return words.join(' · ');
}

function within(input, otherwise) {
  const value = Math.round(Number(input.value)) || otherwise;
  return Math.max(Number(input.min), Math.min(Number(input.max), value));
}

/** Makes a text area as high as its text; a long text is set small. */
function fit(area) {
  area.form.classList.toggle('long', area.value.length > longFrom);
  area.style.height = 'auto';
  area.style.height = `${area.scrollHeight + 2}px`;
}
