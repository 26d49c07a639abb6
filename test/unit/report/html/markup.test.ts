import { describe, expect, it } from 'vitest';
import { escapeHtml, html, raw, scriptJson } from '../../../../src/report/html/markup.js';

describe('html', () => {
  it('escapes every value, in content and in attributes', () => {
    const hostile = `"><img src=x onerror='alert(1)'>&amp;`;
    expect(html`<b title="${hostile}">${hostile}</b>`.text).toBe(
      '<b title="&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;amp;">' +
        '&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;amp;</b>',
    );
  });

  it('takes markup, numbers and lists as they are, and leaves out what is false or undefined', () => {
    expect(html`${html`<i>${1}</i>`}${[raw('<hr>'), 'a', undefined]}${false}${0}`.text).toBe(
      '<i>1</i><hr>a0',
    );
  });

  it('shows control and direction characters as their codes', () => {
    expect(html`${'a\u0000b\u001bc\u202ed'}`.text).toBe('a\\x00b\\x1bc\\u202ed');
  });
});

it('escapeHtml replaces lone surrogates, which UTF-8 cannot hold', () => {
  expect(escapeHtml('a\ud800b')).toBe('a\uFFFDb');
  expect(escapeHtml('😀')).toBe('😀');
});

it('scriptJson cannot end the script element and reads back as it was', () => {
  const value = { name: '</script><!--<script>\u2028&' };
  const { text } = scriptJson(value);
  expect(text).not.toMatch(/[<>&\u2028]/);
  expect(JSON.parse(text)).toEqual(value);
});
