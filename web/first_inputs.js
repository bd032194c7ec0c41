// What stands there before anything was written: inputs to choose from.
import { getSnapshots } from './api.js';
import { element } from './dom.js';
import { isContinuing } from './pairs.js';
import { forgetInputs, recentInputs } from './recent.js';
import { textsIn } from './state.js';

/**
 * The inputs that were typed last, and some from the text that the model was trained with.
 * @param {import('./main.js').App} app
 */
export function firstInputs(app) {
  const { model } = app;
  const what = isContinuing(model) ? 'Type the beginning of a text' : 'Type an input';
  const node = element('div', {}, element('p', {}, `${what} above and press Enter, or try one of these.`));
  const own = recentInputs(model);
  if (own.length) node.append(ownInputs(app, own));
  const given = model.examples.map(([source, ...others]) => ({
    source,
    others: others.length ? JSON.stringify(others) : '',
  }));
  if (given.length) node.append(group('From its text', buttonsOf(app, given)));
  else if (model.snapshots) fromSnapshots(app, node);
  else if (!own.length) node.firstChild.textContent = `${what} above and press Enter.`;
  return node;
}

function ownInputs(app, inputs) {
  const forget = element('button', { type: 'button', className: 'quiet' }, 'Forget these');
  const node = group('Your last inputs', buttonsOf(app, inputs), forget);
  forget.onclick = () => {
    forgetInputs();
    node.remove();
  };
  return node;
}

/** The sentences whose maps training has stored. */
async function fromSnapshots(app, node) {
  const { sentences } = await getSnapshots(app.model.id).catch(() => ({ sentences: [] }));
  if (!node.isConnected || !sentences.length) return;
  const inputs = sentences.map(({ text }) => ({ source: text, others: '' }));
  node.append(group('From its text', buttonsOf(app, inputs)));
}

function group(title, buttons, ...more) {
  const heading = element('div', { className: 'heading' }, element('h3', {}, title), ...more);
  return element('section', { className: 'inputs' }, heading, ...buttons);
}

function buttonsOf(app, inputs) {
  return inputs.map(({ source, others }) => inputButton(app, { source, others }));
}

/**
 * A button that runs an input.
 * @param {import('./main.js').App} app
 * @param {import('./recent.js').Input} input
 */
export function inputButton(app, { source, others }) {
  const text = [source, ...textsIn(others)].join(' · ');
  return element(
    'button',
    { type: 'button', className: 'example', dir: 'auto', onclick: () => app.begin({ source, others }) },
    text,
  );
}
