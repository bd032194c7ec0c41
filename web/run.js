// One input and what is written from it: the tree of the search as it grows.
import { largest } from './maps.js';
import { axesOf, pairOf, sequenceOf } from './pairs.js';
import { spell } from './tokens.js';

let runs = 0;

/**
 * @typedef {{id: number, parent: number, token: string, token_id: number, log_probability: number,
 *   total: number, kept: boolean, ends: boolean, ended: boolean, special: boolean, depth: number,
 *   children: Node[], row: ?number[]}} Node
 */

/** A run of a model, filled by the events of the server. */
export class Run {
  /**
   * @param {import('./api.js').Model} model
   * @param {string} sentence the input as it was typed
   */
  constructor(model, sentence) {
    this.id = ++runs; // of this page; the server's number may come again after a restart
    this.model = model;
    this.sentence = sentence;
    this.number = 0;
    /** @type {import('./pairs.js').Sequence[]} what was read; the written one has its first item */
    this.sequences = [];
    /** @type {?import('./pairs.js').Ends} where the steps say that the output looked */
    this.watched = null;
    this.tokenizer = ''; // the kind of what the output is made of
    /** @type {Map<number, Node>} */
    this.nodes = new Map([[0, { id: 0, token: '', total: 0, kept: true, depth: 0, children: [] }]]);
    /** @type {Node[][]} the nodes by depth, children of one parent together, the likeliest first */
    this.levels = [[this.nodes.get(0)]];
    this.best = 0;
    /** @type {Map<number, string>} what the server says is written at a node */
    this.texts = new Map();
    this.done = false;
    this.stopped = false; // by an error, in the middle
  }

  /** Takes one event of the stream. An error event throws. */
  accept(event) {
    if (event.event === 'error') throw new Error(event.error);
    if (event.event === 'start') {
      this.number = event.run;
      this.sequences = event.sequences;
      this.watched = event.watched;
      this.tokenizer = event.tokenizer;
    } else if (event.event === 'step') {
      event.nodes.forEach((node) => this.#add(node));
      this.#arrange();
      this.best = event.best;
      this.nodes.get(event.best).row = event.row;
      this.texts.set(event.best, event.text);
    } else if (event.event === 'done') {
      this.best = this.#lastOf(event.path);
      for (const { path, text } of event.hypotheses) this.texts.set(this.#lastOf(path), text);
      this.done = true;
    }
  }

  /** The nodes from the first token to the node `id`. */
  pathTo(id) {
    const path = [];
    for (let node = this.nodes.get(id); node && node.id !== 0; node = this.nodes.get(node.parent))
      path.push(node);
    return path.reverse();
  }

  /** The nodes of the best hypothesis, or of the one whose ids are given as "1,4,9". */
  path(ids = '') {
    const last = ids ? Number(ids.split(',').at(-1)) : this.best;
    return this.pathTo(this.nodes.has(last) ? last : this.best);
  }

  /** What a path spells, as the server says, or as the tokens have it. */
  text(ids = '') {
    return this.#textOf(this.path(ids));
  }

  /** What the first tokens of the best hypothesis spell, or of the one whose ids are given. */
  beginning(count, ids = '') {
    return this.#textOf(this.path(ids).slice(0, count));
  }

  /** The likeliest leaf below a node: what the search made of it. */
  leafBelow(id) {
    let node = this.nodes.get(id);
    while (node.children.some((child) => child.kept))
      node = node.children.filter((child) => child.kept).sort((a, b) => b.total - a.total)[0];
    return node.id;
  }

  /** Where the best hypothesis looked so far, as a map; null for a model without attention. */
  liveMap() {
    const path = this.path();
    if (!this.watched || !path.some((node) => node.row?.length)) return null;
    const { queries, keys } = this.watched;
    const written = path.map((node) => node.token);
    const isSelf = queries === keys;
    const begun = sequenceOf(this.sequences, queries).items; // up to the start of what is written
    const own = [...begun, ...written.slice(0, -1)];
    const columns = isSelf ? own : sequenceOf(this.sequences, keys).items;
    const width = columns.length;
    const values = new Float32Array(path.length * width);
    path.forEach((node, row) => node.row && values.set(node.row.slice(0, width), row * width));
    return {
      title: `${queries} → ${keys}, mean of all layers`,
      rows: isSelf ? own.slice(begun.length - 1) : written,
      columns,
      values,
      most: largest(values),
      axes: axesOf(this.model, pairOf(this.watched)),
      room: this.done ? 0 : width,
    };
  }

  /** The last node of a path that the server gave. */
  #lastOf(path) {
    return path.findLast((id) => this.nodes.has(id)) ?? 0;
  }

  #textOf(path) {
    return this.texts.get(path.at(-1)?.id) ?? spell(path, this.tokenizer);
  }

  /** Lists the nodes of the level that was added. */
  #arrange() {
    const level = this.levels
      .at(-1)
      .flatMap((node) => node.children.sort((a, b) => b.total - a.total));
    if (level.length) this.levels.push(level);
  }

  #add(node) {
    const parent = this.nodes.get(node.parent);
    const added = { ...node, depth: parent.depth + 1, children: [], row: null };
    parent.children.push(added);
    this.nodes.set(node.id, added);
  }
}
