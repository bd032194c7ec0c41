// How tokens are shown: pieces of words as people read them.

/**
 * A token for the eye. The mark of a word's beginning goes; a piece that continues a word gets a
 * dot.
 * @param {string} token
 * @param {boolean} [inPieces] whether its sequence marks the beginnings of words
 */
export function tokenText(token, inPieces = true) {
  if (/^<.*>$/.test(token) && token.length < 8) return token;
  if (token.startsWith('▁')) return seen(token.slice(1)) || '␣';
  return inPieces && /^\p{L}/u.test(token) ? '·' + seen(token) : seen(token);
}

/**
 * A token for the eye among others that could stand in its place: each looks different.
 * @param {string} token
 * @param {string} tokenizer its kind
 */
export function choiceText(token, tokenizer) {
  const isWhole = ['word', 'line', 'character', 'byte'].includes(tokenizer);
  if (isWhole || token.startsWith('▁') || isSpecial(token)) return tokenText(token, false);
  return '·' + seen(token);
}

/**
 * All tokens of a sequence for the eye.
 * @param {string[]} tokens
 */
export function tokenTexts(tokens) {
  const inPieces = kindOf(tokens) === 'pieces';
  return tokens.map((token) => tokenText(token, inPieces));
}

/**
 * The text that tokens spell, as their tokenizer would decode it; special ones stand for none.
 * @param {Array<{token: string, special: boolean}>} tokens
 * @param {string} tokenizer its kind
 */
export function spell(tokens, tokenizer) {
  const written = tokens.filter(({ special }) => !special).map(({ token }) => token);
  if (tokenizer === 'word') return written.join(' ');
  const pieces = written.map(spaced);
  if (tokenizer === 'line') return pieces.join(' ');
  if (tokenizer === 'character') return pieces.join('');
  const text = new TextDecoder().decode(Uint8Array.from(pieces.flatMap(bytesOf)));
  return tokenizer === 'byte' ? text : text.replace(/^ /, ''); // pieces begin words by a space
}

/** A token as one would type it. */
export const plainText = (token) => spaced(token);

/** A token with the spaces that it stands for. */
const spaced = (token) => token.replaceAll('▁', ' ');

/** The same for the eye: line ends and tabs have signs. */
const seen = (token) =>
  spaced(token).replace(/[\n\r\t]/g, (sign) => ({ '\n': '↵', '\r': '␍', '\t': '⇥' })[sign]);

/** The bytes of a piece, which may be the name of one: <0xC3>. */
function bytesOf(piece) {
  const byte = /^<0x([0-9A-F]{2})>$/.exec(piece);
  return byte ? [parseInt(byte[1], 16)] : [...new TextEncoder().encode(piece)];
}

const isSpecial = (token) => /^<.+>$/.test(token); // the end, the unknown, a byte: of any kind

/** What the tokens of a sequence are: characters, pieces with marked beginnings, or words. */
function kindOf(tokens) {
  const written = tokens.filter((token) => !isSpecial(token));
  if (written.length && written.every((token) => [...token].length === 1)) return 'characters';
  return written.some((token) => token.startsWith('▁')) ? 'pieces' : 'words';
}
