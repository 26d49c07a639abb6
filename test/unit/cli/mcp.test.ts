/**
 * @module test/unit/cli/mcp
 * The command line of `anyvmaf mcp`: folders, where to listen, and who may call.
 */
import { describe, expect, it } from 'vitest';
import { readMcpArguments } from '../../../src/cli/commands/mcp.js';

const NOTHING = {
  allow: [],
  http: undefined,
  token: undefined,
  origins: [],
  vmafBin: undefined,
  help: false,
};

describe('anyvmaf mcp', () => {
  it.each([
    [[], {}],
    [['--allow', '/a', '--allow=/b'], { allow: ['/a', '/b'] }],
    [['/a', '/b'], { allow: ['/a', '/b'] }],
    [['--http'], { http: '' }],
    [['--http', '--allow', '/a'], { http: '', allow: ['/a'] }],
    [['--http', '9000'], { http: '9000' }],
    [['--http=9000', '/a'], { http: '9000', allow: ['/a'] }],
    [
      ['--allow', '/a', '--http', '0.0.0.0:80', '--token', 't'],
      { allow: ['/a'], http: '0.0.0.0:80', token: 't' },
    ],
    [['--http', '--cors', 'http://a', '--cors', '*'], { http: '', origins: ['http://a', '*'] }],
    [['--vmaf-bin', '/usr/bin/vmaf'], { vmafBin: '/usr/bin/vmaf' }],
    [['--help'], { help: true }],
  ])('%j', (args, wanted) => {
    expect(readMcpArguments(args)).toEqual({ ...NOTHING, ...wanted });
  });

  it.each([
    [['--alow', '/a'], 'unknown option --alow; did you mean --allow?'],
    [['--allow'], 'option --allow needs a value'],
    [['--token', 't'], '--token and --cors are for --http, which was not given'],
    [['--cors', '*'], '--token and --cors are for --http, which was not given'],
    [['--http', '--token', ''], 'give --token once, with a token that is not empty'],
    [['--http', '1', '--http', '2'], 'give --http once'],
  ])('refuses %j', (args, sentence) => {
    expect(() => readMcpArguments(args)).toThrow(sentence);
  });
});
