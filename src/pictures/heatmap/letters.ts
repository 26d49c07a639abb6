/**
 * @module pictures/heatmap/letters
 * Capital letters and figures, five dots wide and seven high, for the legend of a map.
 */

/** Columns and rows of dots of a letter; one more column separates letters. */
export const LETTER = { width: 5, height: 7, pitch: 6 } as const;

/** Rows from top to bottom; the bits of a number are dots, the highest bit leftmost. */
const DOTS: Readonly<Record<string, readonly number[]>> = {
  '0': [14, 17, 19, 21, 25, 17, 14],
  '1': [4, 12, 4, 4, 4, 4, 14],
  '2': [14, 17, 1, 6, 8, 16, 31],
  '3': [14, 17, 1, 6, 1, 17, 14],
  '4': [2, 6, 10, 18, 31, 2, 2],
  '5': [31, 16, 30, 1, 1, 17, 14],
  '6': [6, 8, 16, 30, 17, 17, 14],
  '7': [31, 1, 2, 4, 8, 8, 8],
  '8': [14, 17, 17, 14, 17, 17, 14],
  '9': [14, 17, 17, 15, 1, 2, 12],
  '+': [0, 4, 4, 31, 4, 4, 0],
  '.': [0, 0, 0, 0, 0, 12, 12],
  A: [14, 17, 17, 31, 17, 17, 17],
  C: [14, 17, 16, 16, 16, 17, 14],
  D: [30, 17, 17, 17, 17, 17, 30],
  E: [31, 16, 16, 30, 16, 16, 31],
  F: [31, 16, 16, 30, 16, 16, 16],
  I: [14, 4, 4, 4, 4, 4, 14],
  L: [16, 16, 16, 16, 16, 16, 31],
  M: [17, 27, 21, 21, 17, 17, 17],
  N: [17, 25, 21, 21, 19, 17, 17],
  O: [14, 17, 17, 17, 17, 17, 14],
  R: [30, 17, 17, 30, 20, 18, 17],
  S: [15, 16, 16, 14, 1, 1, 30],
  T: [31, 4, 4, 4, 4, 4, 4],
  V: [17, 17, 17, 17, 17, 10, 4],
  Y: [17, 17, 10, 4, 4, 4, 4],
};

/** Dots of a character; none for a space or an unknown character. */
export function dotsOf(character: string): readonly (readonly [column: number, row: number])[] {
  return (DOTS[character] ?? []).flatMap((bits, row) =>
    Array.from({ length: LETTER.width }, (_, column) => [column, row] as const).filter(
      ([column]) => (bits >> (LETTER.width - 1 - column)) & 1,
    ),
  );
}
