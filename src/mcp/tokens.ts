/**
 * @module mcp/tokens
 * About how many tokens a model reads a text as. Tokenizers differ and are large; this counts a token for every 8 letters
 * of a word, 3 digits of a number and 3 signs in a row. On JSON it is within a tenth of the o200k tokenizer.
 */

const PARTS = /[A-Za-z]+|[0-9]+|[^\sA-Za-z0-9]+|\s{2,}/g;

/** Tokens of a text, an estimate. */
export function tokensOf(text: string): number {
  let tokens = 0;
  for (const [part] of text.matchAll(PARTS)) {
    const code = part.charCodeAt(0);
    const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
    // What is not ASCII is a token a character or more.
    tokens += isLetter ? Math.ceil(part.length / 8) : code < 128 ? Math.ceil(part.length / 3) : part.length;
  }
  return tokens;
}
