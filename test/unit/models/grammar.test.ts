/**
 * @module test/unit/models/grammar
 * Model strings as the `vmaf` tool takes them.
 */
import { describe, expect, it } from 'vitest';
import { parseModelString } from '../../../src/models/grammar.js';
import { refusalOf } from '../../support/models.js';

describe('parseModelString', () => {
  it('reads version, name, flags and overloads', () => {
    const text =
      'version=vmaf_v0.6.1:name=a:disable_clip:enable_transform=true:vif.vif_enhn_gain_limit=1.0:motion.debug=true';
    expect(parseModelString(text)).toEqual({
      text,
      source: { kind: 'version', version: 'vmaf_v0.6.1' },
      name: 'a',
      disableClip: true,
      enableTransform: true,
      overloads: [
        { extractor: 'vif', option: 'vif_enhn_gain_limit', value: '1.0' },
        { extractor: 'motion', option: 'debug', value: 'true' },
      ],
    });
  });

  it.each([
    ['hd', 'vmaf_v0.6.1', false],
    ['neg', 'vmaf_v0.6.1neg', false],
    ['4K', 'vmaf_4k_v0.6.1', false],
    ['version=4k-neg:name=b', 'vmaf_4k_v0.6.1neg', false],
    ['phone', 'vmaf_v0.6.1', true],
    ['constructor', 'constructor', false],
  ])('%s is short for %s', (text, version, enableTransform) => {
    expect(parseModelString(text)).toMatchObject({ source: { kind: 'version', version }, enableTransform });
  });

  it('names the score vmaf unless told otherwise', () => {
    expect(parseModelString('path=/a/b.json')).toMatchObject({
      source: { kind: 'path', path: '/a/b.json' },
      name: 'vmaf',
      disableClip: false,
      enableTransform: false,
    });
  });

  it('prefers version to path, the last of an item, and a value up to its second =', () => {
    expect(parseModelString('path=x.json:version=v').source).toEqual({ kind: 'version', version: 'v' });
    expect(parseModelString('version=a:version=b:name=x=y')).toMatchObject({
      source: { version: 'b' },
      name: 'x',
    });
  });

  it('ignores flags with another value than true', () => {
    expect(parseModelString('version=v:disable_clip=false:enable_transform=1')).toMatchObject({
      disableClip: false,
      enableTransform: false,
    });
  });

  it.each([
    ['', /bad option string ""/],
    ['version=v:', /bad option string ""/],
    ['version=v:clip=false', /unknown item "clip"/],
    ['version=v:nme=a', /unknown item "nme"; did you mean name\? If not, a model string is made of/],
    ['version=v:disable_clp', /bad option string "disable_clp": did you mean disable_clip\? If not, a model/],
    ['version=v:.x=1', /unknown item ".x"/],
    ['name=x', /needs version= or path=/],
    ['version=', /needs version= or path=/],
    ['version=v:name=', /empty name/],
    ['name=:version=v', /^Model string "name=:version=v" gives an empty name; leave name= out\.$/],
  ])('refuses "%s"', async (text, message) => {
    const refusal = await refusalOf('usage', () => parseModelString(text));
    expect(refusal).toMatch(message);
    expect(refusal).toMatch(/^[^\n]+\.$/);
  });
});
