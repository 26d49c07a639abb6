/**
 * @module scripts/fuzz/mutate
 * Damages valid inputs, because inputs that break parsers are close to valid ones.
 */

const NUMBERS = [
  '0',
  '-1',
  '1e308',
  '-1e308',
  '1e999',
  'NaN',
  'Infinity',
  '-0',
  '4294967296',
  '9007199254740993',
  '0x10',
  '1e-400',
  '.',
  '1.',
  '.5',
  '+5',
  '1_000',
  '٣',
];
const PIECES = [
  '\0',
  '\n',
  '\r\n',
  '\u2028',
  '\u202e',
  '\x1b[31m',
  '"',
  "'",
  '\\',
  '<',
  '>',
  '&',
  '{',
  '}',
  '[',
  ']',
  ':',
  '=',
  ',',
  ';',
  '__proto__',
  'constructor',
  'null',
  '😀',
  '\ud800',
  '../',
  '%s',
];
const MOST = 1 << 20;

/** Bytes with one to four kinds of damage; `other` is a second valid input to splice with. */
export function damageBytes(random, bytes, other = bytes) {
  let result = Uint8Array.from(bytes);
  for (let n = random.int(1, 4); n > 0; n--) result = damageOnce(random, result, other);
  return result.subarray(0, MOST);
}

function damageOnce(random, bytes, other) {
  // Parsers depend on heads and tails.
  const place = () => {
    const last = Math.max(0, bytes.length - 1);
    if (random.oneIn(3)) return random.int(0, Math.min(64, last));
    return random.oneIn(4) ? random.int(Math.max(0, last - 64), last) : random.int(0, last);
  };
  const at = place();
  switch (random.int(0, 8)) {
    case 0:
      bytes[at] ^= 1 << random.int(0, 7);
      return bytes;
    case 1:
      bytes[at] = random.pick([0, 1, 127, 128, 254, 255, 32, 10]);
      return bytes;
    case 2:
      for (let i = at; i < Math.min(bytes.length, at + random.int(1, 8)); i++) bytes[i] = random.int(0, 255);
      return bytes;
    case 3:
      return bytes.slice(0, at);
    case 4:
      return join(bytes.subarray(0, at), bytes.subarray(Math.min(bytes.length, at + random.int(1, 64))));
    case 5:
      return join(bytes.subarray(0, at), random.bytes(random.int(1, 16)), bytes.subarray(at));
    case 6: {
      const from = place();
      const piece = bytes.subarray(from, from + random.int(1, 200));
      return join(bytes.subarray(0, at), piece, bytes.subarray(at));
    }
    case 7: {
      const from = random.int(0, Math.max(0, other.length - 1));
      return join(bytes.subarray(0, at), other.subarray(from, from + random.int(1, 500)), bytes.subarray(at));
    }
    default: {
      // A length or an offset, in either byte order.
      const value = random.pick([0, 1, 0x7fffffff, 0x80000000, 0xffffffff, bytes.length, bytes.length + 1]);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (at + 4 <= bytes.length) view.setUint32(at, value, random.oneIn(2));
      return bytes;
    }
  }
}

function join(...parts) {
  return new Uint8Array(Buffer.concat(parts));
}

/** Text with one to four kinds of damage. */
export function damageText(random, text, words = PIECES) {
  let result = text;
  for (let n = random.int(1, 4); n > 0; n--) result = damageTextOnce(random, result, words);
  return result.slice(0, MOST);
}

function damageTextOnce(random, text, words) {
  const at = random.int(0, text.length);
  const word = random.pick(random.oneIn(2) ? PIECES : words);
  switch (random.int(0, 7)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + word + text.slice(at);
    case 2:
      return text.slice(0, at) + text.slice(at + random.int(1, 40));
    case 3:
      return replaceNumber(random, text, at);
    case 4:
      return text.slice(0, at) + text.slice(at, at + random.int(1, 200)) + text.slice(at);
    case 5:
      // Repeat one thing very often: nesting, long numbers, long names.
      return text.slice(0, at) + repeated(random, word, text, at) + text.slice(at);
    case 6: {
      const to = random.int(0, text.length);
      return text.slice(0, at) + text.slice(to, to + random.int(1, 100)) + text.slice(at + random.int(0, 20));
    }
    default:
      return text.slice(0, at) + String.fromCharCode(random.int(0, 0xffff)) + text.slice(at + 1);
  }
}

function repeated(random, word, text, at) {
  const unit = random.oneIn(3)
    ? text.slice(at, at + random.int(1, 30))
    : random.oneIn(2)
      ? word
      : random.pick(['9', ' ', '0', 'a', '.9', '<a>', '[', '{"a":']);
  const count = random.oneIn(20) ? random.int(1_000, 100_000) : random.int(2, 300);
  return unit.repeat(Math.min(count, Math.ceil(MOST / Math.max(1, unit.length) / 2)));
}

/** Replaces the number at or after a position. */
function replaceNumber(random, text, from) {
  let start = from;
  while (start < text.length && !isDigit(text, start)) start++;
  let end = start;
  while (end < text.length && isDigit(text, end)) end++;
  const number = random.oneIn(8) ? '9'.repeat(random.int(20, 5000)) : random.pick(NUMBERS);
  return text.slice(0, start) + number + text.slice(end);
}

function isDigit(text, at) {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}
