// The inputs that were typed last for each model, kept by the browser.
import { store, stored } from './storage.js';
import { textsIn } from './state.js';

const key = 'attend-inputs';
const [mostInputs, mostModels, longest] = [5, 20, 1000]; // inputs of a model, models, letters

/** What a model reads: the first text, and the others as the address has them. */
/** @typedef {{source: string, others: string}} Input */

/** The newest first. @returns {Input[]} */
export function recentInputs({ name }) {
  const entry = all().find(([model]) => model === name);
  return entry ? entry[1] : [];
}

/** Puts an input before the others of its model, and the model before other models. */
export function rememberInput({ name }, { source, others }) {
  if (!source || source.length + others.length > longest) return;
  const isOther = (input) => input.source !== source || input.others !== others;
  const before = recentInputs({ name }).filter(isOther);
  const inputs = [{ source, others }, ...before].slice(0, mostInputs);
  const models = all().filter(([model]) => model !== name);
  store(key, JSON.stringify([[name, inputs], ...models].slice(0, mostModels)));
}

/** Forgets the inputs of all models. */
export const forgetInputs = () => store(key, null);

/** What is kept, as far as it is what this page wrote. @returns {Array<[string, Input[]]>} */
function all() {
  try {
    const kept = JSON.parse(stored(key) ?? '[]');
    return kept.map(([model, inputs]) => [String(model), inputs.map(checked)]);
  } catch {
    return [];
  }
}

const checked = ({ source, others }) => ({
  source: String(source),
  others: textsIn(others).length ? String(others) : '',
});
