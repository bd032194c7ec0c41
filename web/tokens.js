// How tokens are shown: pieces of words as people read them.

/**
 * A token for the eye. The mark of a word's beginning goes; a piece that continues a word gets a
 * dot.
 * @param {string} token
 * @param {boolean} [inPieces] whether its sequence marks the beginnings of words
 */
export function tokenText(token, inPieces = true) {
  if (/^<.*>$/.test(token) && token.length < 8) return token;
  if (token.startsWith('▁')) return token.slice(1) || '▁';
  return inPieces && /^\p{L}/u.test(token) ? '·' + token : token;
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
 * The text that tokens spell.
 * @param {string[]} tokens
 */
export function spell(tokens) {
  const written = tokens.filter((token) => !isEnd(token));
  return kindOf(tokens) === 'words'
    ? written.join(' ')
    : written.join('').replaceAll('▁', ' ').trim();
}

const isEnd = (token) => /^<\/?s>$/.test(token);
const isSpecial = (token) => /^<.+>$/.test(token); // the end, the unknown, a byte: of any kind

/** What the tokens of a sequence are: characters, pieces with marked beginnings, or words. */
function kindOf(tokens) {
  const written = tokens.filter((token) => !isSpecial(token));
  if (written.length && written.every((token) => [...token].length === 1)) return 'characters';
  return written.some((token) => token.startsWith('▁')) ? 'pieces' : 'words';
}
