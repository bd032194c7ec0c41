// The page: puts the state, the run and the views together.
import { getModels } from './api.js';
import { composer } from './composer.js';
import { fillSelect } from './dom.js';
import { save } from './export.js';
import { guide } from './guide.js';
import { listenForKeys } from './keys.js';
import { fillManual } from './manual.js';
import { selectionOf } from './maps.js';
import { withShortNames } from './names.js';
import { notice } from './notice.js';
import { count } from './numbers.js';
import { readBy, writtenBy } from './pairs.js';
import { Picker, stepped } from './picker.js';
import { Runner } from './runner.js';
import { numbersIn, otherInput, Store } from './state.js';
import { tabs } from './tabs.js';
import { theme } from './theme.js';
import { isFirstVisit, tour } from './tour.js';
import { emptyView, keyOf, lacking, offeredViews, views } from './views.js';

/**
 * What views share.
 * @typedef {{store: Store, models: import('./api.js').Model[], model: import('./api.js').Model,
 *   run: ?import('./run.js').Run, selection: import('./maps.js').Selection,
 *   fail: function(Error): void, hideNotice: function(): void, announce: function(string): void,
 *   waitFor: function(Promise<*>): Promise<*>,
 *   showZoom: function({smaller: boolean, larger: boolean}): void,
 *   rerun: function(Partial<import('./state.js').State>): void,
 *   begin: function(import('./recent.js').Input): void,
 *   sideRun: function(import('./api.js').Model, string, string=): Promise<import('./run.js').Run>}} App
 */

const $ = (id) => document.getElementById(id);
const store = new Store();
const problems = notice($('notice'), () => start());
const runner = new Runner({
  onStart: problems.hide,
  onChange: () => schedule(),
  onFail: problems.fail,
});

/** @type {App} */
const app = {
  store,
  models: [],
  get model() {
    return app.models.find(({ id }) => id === store.state.model) ?? app.models[0];
  },
  get run() {
    return runner.run;
  },
  get selection() {
    return selectionOf(offered(), store.state);
  },
  fail: problems.fail,
  hideNotice: problems.hide,
  announce: (text) => ($('announcer').textContent = text),
  waitFor(promise) {
    showWaiting(1);
    return promise.finally(() => showWaiting(-1));
  },
  showZoom({ smaller, larger }) {
    const [less, more] = $('zoom').children;
    [less.disabled, more.disabled] = [!smaller, !larger];
  },
  rerun(patch) {
    runner.forget();
    store.set(patch);
    follow();
  },
  begin: (input) => app.rerun({ ...otherInput, ...input }),
  sideRun: (model, source, out = '') => runner.beside(model, { ...stateFor(model), source, out }),
};

const sentence = composer(app);
const lesson = guide(app, $('guide'));
const visit = tour($('tour'));
const bar = tabs($('tabs'), views, (view) => store.set({ view }));
const picker = new Picker((selection) => store.set(selection));
const switchTheme = theme(() => drawAll());
let note = '';
let isScheduled = false;
let waiting = 0; // for so many answers
/** @type {{id: string, view: ?import('./views.js').View}} */
let shown = { id: '', view: null };

/** Writes what the state asks for, once there is a model to do so. */
function follow() {
  if (app.models.length) runner.follow(app.model, { ...store.state, out: '' });
}

/** The state with its beginning as text where another model has it: its tokens have other ids. */
function stateFor(model) {
  const { state } = store;
  if (!state.startIds || model === app.model) return state;
  const begun = app.run.beginning(numbersIn(state.startIds).length);
  // The output of a model that reads nothing else begins with the text itself.
  const isContinued = !readBy(app.model).length && begun.startsWith(state.source);
  const text = begun + state.start;
  return { ...state, startIds: '', start: isContinued ? text.slice(state.source.length) : text };
}

/** Shows on the view, after a moment, that something for it is on its way. */
function showWaiting(more) {
  waiting += more;
  $('view').setAttribute('aria-busy', waiting > 0);
}

function placeNow() {
  return views.find(({ id }) => id === store.state.view) ?? views[0];
}

/** The model with the layers that can be chosen in the view. */
function offered() {
  const { model } = app;
  if (!placeNow().ofOutput) return model;
  const written = writtenBy(model);
  const looks = [written, model.joined]; // the output alone, or behind what is read
  return { ...model, layers: model.layers.filter(({ queries }) => looks.includes(queries)) };
}

/** Updates the page once in a frame, however much changes. */
function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    update();
  });
}

function update() {
  if (!app.models.length) return;
  const { model, run } = app;
  const place = placeNow();
  $('model').value = String(model.id);
  $('about').textContent = `${model.kind}, ${count(model.parameters)} parameters`;
  $('composer').hidden = Boolean(place.alone);
  sentence.update();
  lesson.update();
  bar.show(
    place.id,
    offeredViews(model).map(({ id }) => id),
  );
  const lack = lacking(place, model, run);
  mount(lack ? `${place.id} ${lack} ${model.id} ${run ? 'run' : 'start'}` : place.id, () =>
    lack ? emptyView(app, lack) : place.make(app),
  );
  const picks = place.picks && !lack && offered().layers.length > 0;
  picker.node.hidden = !picks;
  if (picks) picker.show(offered(), app.selection);
  $('zoom').hidden = !shown.view.zoom;
  document.querySelector('.toolbar').hidden = Boolean(lack);
  shown.view.update();
}

function mount(id, make) {
  if (shown.id === id) return;
  shown.view?.leave?.();
  shown = { id, view: make() };
  const hadFocus = $('view').contains(document.activeElement);
  $('view').replaceChildren(shown.view.node);
  if (hadFocus) $('view').focus({ preventScroll: true });
  $('controls').replaceChildren(...(shown.view.controls ? [shown.view.controls] : []), picker.node);
}

function drawAll() {
  shown.view?.draw();
  shown.view?.update();
}

function closeExport() {
  $('export').open = false;
}

async function saveAs(format) {
  closeExport();
  if (format === 'link') return copyLink();
  const picture = shown.view.export();
  if (!picture) throw new Error('There is nothing to save here yet.');
  const { model, run } = app;
  await save(format, picture, {
    model: model.name,
    source: store.state.source,
    output: run?.text(store.state.path) ?? '',
    note,
    link: store.link,
  });
}

/** Copies the address, and says so where one has just pressed. */
async function copyLink() {
  await navigator.clipboard.writeText(store.link);
  const summary = $('export').querySelector('summary');
  summary.textContent = 'Link copied';
  app.announce('Link copied');
  setTimeout(() => (summary.textContent = 'Export'), 2000);
}

function step(by) {
  if (app.model && offered().layers.length) store.set(stepped(offered(), app.selection, by));
}

function listen() {
  $('model').addEventListener('change', ({ target }) =>
    store.set({
      model: Number(target.value),
      path: '',
      start: '',
      startIds: '',
      out: '',
      halt: 0,
    }),
  );
  $('theme').addEventListener('click', switchTheme);
  $('help').addEventListener('click', () => $('manual').showModal());
  $('zoom').addEventListener(
    'click',
    ({ target }) => target.value && shown.view.zoom(Number(target.value)),
  );
  $('export').addEventListener('click', ({ target }) => {
    if (target.value) saveAs(target.value).catch(problems.fail);
  });
  $('export').addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return;
    closeExport();
    $('export').querySelector('summary').focus();
  });
  addEventListener('resize', () => {
    bar.reveal();
    shown.view?.draw();
  });
  addEventListener('click', ({ target }) => $('export').contains(target) || closeExport());
  fillManual($('manual'), visit.start);
  const byKey = views.map((view) => [keyOf(view), () => store.set({ view: view.id })]);
  listenForKeys({
    ...Object.fromEntries(byKey),
    '/': () => sentence.focus(),
    '?': () => $('manual').showModal(),
    '[': () => step({ layers: -1 }),
    ']': () => step({ layers: 1 }),
    ',': () => step({ heads: -1 }),
    '.': () => step({ heads: 1 }),
    ' ': () => (shown.view?.play ? shown.view.play() : false),
    '+': () => shown.view?.zoom?.(1.5),
    '-': () => shown.view?.zoom?.(1 / 1.5),
    0: () => shown.view?.zoom?.(0),
    t: switchTheme,
    e: () => {
      if (!$('export').checkVisibility()) return;
      $('export').open = true;
      $('export').querySelector('button').focus();
    },
  });
  store.subscribe(() => {
    follow();
    schedule();
  });
}

async function start() {
  try {
    const answer = await getModels();
    app.models = withShortNames(answer.models);
    note = answer.note;
    lesson.fill(answer.guide);
    if (answer.guide) store.begin({ source: answer.guide.inputs[0] ?? '', ...answer.guide.state });
  } catch (error) {
    return problems.fail(error);
  }
  $('note').textContent = note;
  fillSelect(
    $('model'),
    app.models.map(({ id, shortName }) => [String(id), shortName]),
    String(app.model.id),
  );
  $('model').title = app.models.map(({ name }) => name).join('\n');
  $('model').disabled = app.models.length < 2;
  runner.forget();
  follow();
  schedule();
  if (isFirstVisit()) requestAnimationFrame(visit.start);
}

listen();
start();
