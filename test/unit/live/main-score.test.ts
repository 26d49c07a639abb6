/**
 * Which score a measurement is mainly about, as models change.
 */
import { expect, it } from 'vitest';
import { MainScore } from '../../../src/live/main-score.js';

const swap = (frame: number, from: string, to: string) => ({ frame, from, to, source: '', measuring: [] });

it('changes at the frame of a change that replaces it, not when that is asked for', () => {
  const main = new MainScore();
  main.begin('vmaf');
  main.swap(swap(10, 'vmaf', 'neg'));
  expect(main.at(9)).toBe('vmaf');
  expect(main.now).toBe('vmaf');
  expect(main.at(10)).toBe('neg');
});

it('follows several changes at one boundary, and leaves out those of other scores and frames that are passed over', () => {
  const main = new MainScore();
  main.begin('vmaf');
  main.swap(swap(10, 'vmaf', 'a'));
  main.swap(swap(10, 'a', 'b'));
  main.swap(swap(12, 'other', 'c'));
  expect(main.at(15)).toBe('b');
  main.swap(swap(20, 'b', 'd'));
  expect(main.at(19)).toBe('b');
  expect(main.at(25)).toBe('d');
});
