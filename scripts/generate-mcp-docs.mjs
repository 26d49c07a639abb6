/**
 * @module scripts/generate-mcp-docs
 * `npm run generate`: writes docs/mcp-tools.md and test/fixtures/mcp-tools.json, the list that clients see, from the
 * schemas of the tools.
 *
 *   node scripts/generate-mcp-docs.mjs --check    fails if a file does not match the schemas
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadBuilt, ROOT, table } from './lib/project.mjs';

const { TOOLS } = await loadBuilt('mcp/tools/index.js');
const { describeTools, listTools } = await loadBuilt('mcp/server.js');
const tools = describeTools(TOOLS);

/** `string`, `"a" or "b"`, `integer >= 1`, `list of string`, … */
function typeOf(schema) {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(' or ');
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum) return schema.enum.map((value) => code(JSON.stringify(value))).join(' or ');
  if (schema.type === 'array') {
    const least = schema.minItems ? `, ${schema.minItems} or more` : '';
    const most = schema.maxItems ? `, at most ${schema.maxItems}` : '';
    return `list of ${schema.items ? typeOf(schema.items) : 'anything'}${least}${most}`;
  }
  if (schema.type === 'object' || schema.properties) return 'object';
  if (schema.type === 'integer' || schema.type === 'number') return `${schema.type}${range(schema)}`;
  return [schema.type ?? 'anything'].flat().join(' or ');
}

const code = (text) => `\`${text}\``;

function range({ minimum, maximum, exclusiveMinimum }) {
  const low = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const high = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (low !== undefined && high !== undefined) return ` ${low}..${high}`;
  if (low !== undefined) return ` >= ${low}`;
  if (exclusiveMinimum !== undefined) return ` > ${exclusiveMinimum}`;
  return high === undefined ? '' : ` <= ${high}`;
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function parameters({ properties = {}, required = [] }) {
  const names = Object.keys(properties);
  if (names.length === 0) return 'It takes no parameters.';
  const rows = names.map((name) => {
    const { default: value, description = '', ...schema } = properties[name];
    const fallback = required.includes(name)
      ? 'required'
      : value === undefined
        ? ''
        : code(JSON.stringify(value));
    return [code(name), cell(typeOf(schema)), cell(fallback), cell(description)];
  });
  return table(['parameter', 'type', 'default', 'meaning'], rows);
}

/** The members of a result, followed by those of nested objects and lists of objects. */
function members(schema, prefix = '') {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = `${prefix}${name}`;
    const options = [member, ...(member.anyOf ?? [])];
    const inner = options.map((option) => option.items ?? option).find((option) => option.properties);
    const list = options.some((option) => option.type === 'array');
    const row = [code(path), cell(typeOf(member)), cell(member.description ?? '')];
    return [row, ...(inner ? members(inner, `${path}${list ? '[]' : ''}.`) : [])];
  });
}

function section({ name, title, description, inputSchema, outputSchema, annotations }) {
  const hints = [
    annotations.readOnlyHint ? 'reads only' : 'writes files',
    ...(annotations.openWorldHint ? ['may reach the network'] : []),
  ];
  return [
    `## ${name}`,
    `*${title}; ${hints.join(', ')}.* ${description}`,
    parameters(inputSchema),
    '<details><summary>Result</summary>',
    table(['member', 'type', 'meaning'], members(outputSchema)),
    '</details>',
  ].join('\n\n');
}

const overview = table(
  ['tool', 'purpose'],
  tools.map(({ name, title }) => [`[${name}](#${name})`, cell(title)]),
);

const page = `# MCP tools

<!-- Made by \`npm run generate\` from the schemas in src/mcp/tools; do not edit. -->

Every tool answers with one JSON document, as text and as \`structuredContent\`; pictures and links to full reports follow
it. Errors have \`isError: true\` and the text \`{"error": "<sentence>"}\`. Numbers that are not finite are \`null\`.
[mcp.md](mcp.md) explains the set-up, [mcp-decisions.md](mcp-decisions.md) the choices between contradicting references.

${overview}

${tools.map(section).join('\n\n')}
`;

const files = {
  'docs/mcp-tools.md': page,
  'test/fixtures/mcp-tools.json': `${JSON.stringify(listTools(TOOLS), null, 1)}\n`,
};
const stale = Object.entries(files).filter(([file, text]) => {
  const path = join(ROOT, file);
  return !existsSync(path) || readFileSync(path, 'utf8') !== text;
});
if (process.argv.includes('--check')) {
  for (const [file] of stale) console.error(`${file} is stale; run \`npm run generate\``);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const [file, text] of stale) writeFileSync(join(ROOT, file), text);
  console.log(
    `${tools.length} tools; ${stale.length > 0 ? `wrote ${stale.map(([file]) => file).join(', ')}` : 'nothing to write'}`,
  );
}
