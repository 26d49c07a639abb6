/**
 * @module test/unit/remote/allowed-hosts
 * Which hosts and addresses may be fetched from: what was named, the public's addresses, and nothing else however it is spelt.
 */
import { describe, expect, it } from 'vitest';
import { AllowedHosts, canonicalAddress, isPublic } from '../../../src/remote/allowed-hosts.js';

const may = (entries: readonly string[], url: string, address?: string): boolean => {
  const hosts = new AllowedHosts(entries);
  try {
    hosts.require(new URL(url));
    if (address !== undefined) hosts.requireAddress(address, new URL(url));
    return true;
  } catch {
    return false;
  }
};

describe('addresses', () => {
  it.each(
    `
    0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1
    172.31.255.255 192.168.1.1 198.19.0.1 224.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1
    ::ffff:a9fe:a9fe 0:0:0:0:0:ffff:10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::1 ::127.0.0.1
    fe80::1%eth0 fc00::1 fd00:ec2::254 ff02::1 2001::1 2001:db8::1 2002:7f00:1::1 100::1
  `
      .trim()
      .split(/\s+/),
  )('%s is not the public’s', (address) => {
    expect(isPublic(canonicalAddress(address) ?? '')).toBe(false);
  });

  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'])(
    '%s is',
    (address) => {
      expect(isPublic(canonicalAddress(address) ?? '')).toBe(true);
    },
  );

  it('have one spelling', () => {
    expect(canonicalAddress('[0:0:0:0:0:FFFF:7f00:1]')).toBe('127.0.0.1');
    expect(canonicalAddress('2606:4700:0:0:0:0:0:1111')).toBe('2606:4700::1111');
    expect(canonicalAddress('example.com')).toBeUndefined();
    expect(canonicalAddress('127.1')).toBeUndefined();
  });
});

describe('hosts', () => {
  it('are fetched from where they are named, at the ports named', () => {
    expect(may(['media.example.com'], 'https://media.example.com/a.mp4?X-Amz-Signature=1')).toBe(true);
    expect(may(['MEDIA.example.com.'], 'http://media.EXAMPLE.com./a')).toBe(true);
    expect(may(['media.example.com'], 'https://media.example.com:8443/a')).toBe(false);
    expect(may(['media.example.com:8443'], 'https://media.example.com:8443/a')).toBe(true);
    expect(may(['media.example.com:443'], 'https://media.example.com/a')).toBe(true);
    expect(may(['example.com'], 'https://media.example.com/a')).toBe(false);
    expect(may(['*.example.com'], 'https://media.example.com/a')).toBe(true);
    expect(may(['*.example.com'], 'https://badexample.com/a')).toBe(false);
    expect(may(['*.example.com'], 'https://example.com/a')).toBe(false);
    expect(may(['media.example.com'], 'https://media.example.com@evil.com/a')).toBe(false);
    expect(may(['media.example.com'], 'https://media.example.com.evil.com/a')).toBe(false);
    expect(may([], 'https://media.example.com/a')).toBe(false);
    for (const scheme of ['ftp', 'file', 'rtmp', 'data', 'ws'])
      expect(may(['media.example.com'], `${scheme}://media.example.com/a`)).toBe(false);
  });

  it.each(
    `
    http://127.0.0.1/ http://2130706433/ http://0x7f.1/ http://0177.0.0.1/ http://127.1/
    http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]/ http://[0:0:0:0:0:ffff:127.0.0.1]/
    http://１２７.0.0.1/
  `
      .trim()
      .split(/\s+/),
  )('at addresses are these however they are spelt: %s', (url) => {
    expect(may(['127.0.0.1'], url)).toBe(true);
    expect(may(['10.0.0.1', 'example.com'], url)).toBe(false);
    expect(may(['127.0.0.0/8'], url)).toBe(true);
  });

  it('that have a private address need that named too', () => {
    const url = 'https://media.example.com/a';
    for (const inward of ['10.0.0.5', '127.0.0.1', '169.254.169.254', '::1', '::ffff:10.0.0.5', 'fd00::1']) {
      expect(may(['media.example.com'], url, inward)).toBe(false);
      expect(may(['media.example.com', inward], url, inward)).toBe(true);
    }
    expect(may(['media.example.com', '10.0.0.0/8'], url, '10.0.0.5')).toBe(true);
    expect(may(['media.example.com', '10.0.0.0/8'], url, '192.168.0.5')).toBe(false);
    expect(may(['media.example.com', 'fd00::/8'], url, 'fd00::1')).toBe(true);
    expect(may(['media.example.com'], url, '8.8.8.8')).toBe(true);
    expect(may(['media.example.com', '10.0.0.5:9000'], url, '10.0.0.5')).toBe(false);
    expect(may(['localhost:9000'], 'http://localhost:9000/', '127.0.0.1')).toBe(true);
    expect(may(['localhost:9000'], 'http://localhost:9000/', '10.0.0.5')).toBe(false);
  });

  it('do not lead elsewhere, and not to what is not encrypted', () => {
    const hosts = new AllowedHosts(['media.example.com', '10.0.0.5']);
    const from = new URL('https://media.example.com/a?sig=secret');
    expect(() => hosts.require(new URL('https://media.example.com/b'), from)).not.toThrow();
    expect(() => hosts.require(new URL('http://media.example.com/b'), from)).toThrow(
      ', which is not encrypted.',
    );
    expect(() => hosts.require(new URL('https://169.254.169.254/'), from)).toThrow(
      'https://media.example.com/a?... redirects to https://169.254.169.254/, on a host that is not allowed',
    );
    expect(() => hosts.require(new URL('file:///etc/passwd'), from)).toThrow(
      'a URL with an unsupported scheme (file:)',
    );
  });

  it('that are none are refused', () => {
    for (const entry of [
      '',
      'a b',
      'https://a.com',
      'a.com/path',
      '10.0.0.0/33',
      '10.0.0.0/',
      '/',
      'u@a.com',
      '*',
      '*.',
      'a.com:x',
      'a.com:99999',
      '*.*.com',
      'a.com?x',
      '::1/200',
    ])
      expect(() => new AllowedHosts([entry]), entry).toThrow('it must be a host, such as');
  });
});
