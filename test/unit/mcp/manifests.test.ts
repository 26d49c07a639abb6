/**
 * @module test/unit/mcp/manifests
 * What registries and hosts read of the server agrees with the package and with the tools that it has.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listTools } from '../../../src/mcp/server.js';
import { TOOLS } from '../../../src/mcp/tools/index.js';
import { root } from '../../support/built.js';

const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const manifest = read('package.json');

it('server.json names the package, its version and the command that serves', () => {
  const server = read('server.json');
  expect(server.name).toBe(manifest.mcpName);
  expect(server.version).toBe(manifest.version);
  expect(server.description.length).toBeLessThanOrEqual(100);
  const [entry] = server.packages;
  expect(entry).toMatchObject({ registryType: 'npm', identifier: manifest.name, version: manifest.version });
  expect(entry.transport).toEqual({ type: 'stdio' });
  expect(entry.packageArguments[0]).toMatchObject({ type: 'positional', value: 'mcp' });
});

it('the bundle starts the installed command on the folders that the user chose', () => {
  const bundle = read('mcpb/manifest.json');
  expect(bundle.version).toBe(manifest.version);
  expect(bundle.license).toBe(manifest.license);
  expect(bundle.server.entry_point).toBe(`node_modules/${manifest.name}/${manifest.bin.anyvmaf}`);
  expect(bundle.server.mcp_config.args).toEqual([
    `\${__dirname}/${bundle.server.entry_point}`,
    'mcp',
    `\${user_config.allowed_directories}`,
  ]);
  expect(bundle.user_config.allowed_directories).toMatchObject({ type: 'directory', multiple: true });
});

it('the bundle names every tool', () => {
  expect(read('mcpb/manifest.json').tools).toEqual(
    TOOLS.map(({ name, title }) => ({ name, description: title })),
  );
});

it('tools have names that the protocol allows, and say what every parameter means', () => {
  const names = TOOLS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, inputSchema, description } of listTools(TOOLS)) {
    expect(name).toMatch(/^[a-z0-9_]{1,64}$/);
    expect(description.length, name).toBeGreaterThan(40);
    for (const [parameter, schema] of Object.entries(Object(inputSchema.properties)))
      expect(schema, `${name}.${parameter}`).toHaveProperty('description');
  }
});
