/**
 * @module test/package/docs
 * The documentation: the README shows code of the examples, every page is in the index, links work from the package too,
 * commands on pages parse, and the commands of an engineer's morning run as written.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { COMMANDS } from '../../src/cli/command.js';
import { scoreSettings } from '../../src/cli/score-options.js';
import { OPTIONS } from '../../src/core/options.js';
import { root } from '../support/built.js';
import { anyvmaf, videos } from '../support/cli.js';
import { ffmpeg, hasFfmpeg, needsFfmpeg } from '../support/encode.js';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));

/** Words of a command line; the pages use single quotes only. */
const words = (line: string) =>
  [...line.replace(/\s+#.*$/, '').matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );

/** Command lines in code blocks, and in code of tables. */
function commands(text: string): string[] {
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.split('\n'));
  const cells = [...text.matchAll(/`(anyvmaf [^`]*)`/g)].map(([, line = '']) => line);
  return [...blocks, ...cells]
    .map((line) => line.replace(/^npx /, ''))
    .filter((line) => line.startsWith('anyvmaf '));
}

describe('the index', () => {
  it('links to every page', () => {
    const linked = [...read('docs/index.md').matchAll(/\]\(([^)#]+)/g)].map(([, link = '']) => link);
    expect(docs.filter((name) => name !== 'index.md' && !linked.includes(name))).toEqual([]);
    expect(linked.filter((link) => !existsSync(join(root, 'docs', link)))).toEqual([]);
  });
});

describe('README.md', () => {
  it('shows code of the examples verbatim', () => {
    const examples = readdirSync(join(root, 'docs/examples')).map((name) => read(`docs/examples/${name}`));
    const blocks = [...read('README.md').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) expect(examples).toContain(block);
  });
});

describe.each(['README.md', 'CONTRIBUTING.md', ...docs.map((name) => `docs/${name}`)])('%s', (page) => {
  it('links to files that exist, and names npm scripts that exist', () => {
    const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const names = [...read(page).matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
    expect(names.filter((name) => !(name in scripts))).toEqual([]);
  });
});

describe('reference pages', () => {
  const commands = COMMANDS.map(({ name }) => name).filter((name) => name !== 'score');
  it.each(commands)('docs/cli.md has the command %s', (name) => {
    expect(read('docs/cli.md')).toMatch(new RegExp(`anyvmaf ${name}\\b`));
  });

  it('docs/api.md has every option of score', () => {
    const taken = Object.entries(OPTIONS).filter(([, { by }]) => (by as readonly string[]).includes('score'));
    const page = read('docs/api.md');
    expect(taken.map(([name]) => name).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('scripts', () => {
  const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });

  it.each(['test', 'corpus', 'accuracy'])('of %s describe themselves', (name) => {
    const { status, stdout } = run(`scripts/${name}.mjs`, '--help');
    expect([status, stdout.split('\n')[0]]).toEqual([0, `@module scripts/${name}`]);
  });

  it.each([
    ['test', 'test/unit/absent.test.ts', '"test/unit/absent.test.ts" is neither a file nor part of the name'],
    ['test', '--exaustive', "Unknown option '--exaustive'; --help lists the options."],
    ['corpus', '--onyl', "Unknown option '--onyl'; --help lists the options."],
  ])('of %s refuse %s', (name, word, message) => {
    const { status, stderr } = run(`scripts/${name}.mjs`, word);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('links', () => {
  const { repository, homepage } = JSON.parse(read('package.json')) as {
    repository: { url: string };
    homepage: string;
  };
  const address = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');

  it('of the README lead to files of the package or of the repository', () => {
    expect(homepage.startsWith(address)).toBe(true);
    const files: string[] = JSON.parse(read('package.json')).files;
    const links = [...read('README.md').matchAll(/\]\(([^)#\s]+)/g)].map(([, link = '']) => link);
    const packed = (link: string) => files.some((file) => link === file || link.startsWith(`${file}/`));
    const inRepository = (link: string) =>
      link.startsWith(`${address}/blob/main/`) &&
      existsSync(join(root, link.slice(`${address}/blob/main/`.length)));
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter((link) => !packed(link) && !inRepository(link))).toEqual([]);
  });

  it('to headings lead to existing ones', () => {
    const anchors = (file: string) =>
      [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
        title
          .toLowerCase()
          .replace(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      );
    const wrong: string[] = [];
    for (const page of ['index.md', 'faq.md', 'ci.md', 'coming-from.md', 'runtimes.md', 'cli.md']) {
      for (const [, link = '', anchor = ''] of read(`docs/${page}`).matchAll(
        /\]\(([\w./-]*\.md)?#([\w-]+)\)/g,
      ))
        if (!anchors(join(dirname(`docs/${page}`), link || page)).includes(anchor))
          wrong.push(`${page}: ${link}#${anchor}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe.each(['faq.md', 'coming-from.md', 'ci.md', 'guide.md', 'examples/morning.md'])('docs/%s', (page) => {
  const lines = commands(read(`docs/${page}`)).map((line) => [line] as const);

  it('shows commands', () => expect(lines.length).toBeGreaterThan(0));

  it.each(lines)('%s parses', (line) => {
    const [, ...args] = words(line);
    const [first = ''] = args;
    if (COMMANDS.some(({ name }) => name === first)) return;
    // Parsing throws for unknown options and invalid values.
    expect(scoreSettings(args)).toBeTypeOf('object');
  });
});

describe.skipIf(!hasFfmpeg)(`an encoding engineer's morning (${needsFfmpeg})`, () => {
  const files = videos();
  const lines = commands(read('docs/examples/morning.md'));

  beforeAll(() => {
    const [source] = files.pair(['source.y4m', 'unused.y4m'], 60, { width: 192, height: 108 });
    const make = (name: string, options: readonly string[]) =>
      ffmpeg(files.at(name), ['-i', source, ...options]);
    const x264 = (crf: number) => ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', String(crf)];
    make('master.mkv', ['-c:v', 'ffv1']);
    make('encode.mp4', x264(26));
    make('high.mp4', x264(20));
    make('low.mp4', x264(40));
    make('late.mp4', ['-vf', 'trim=start_frame=7,setpts=PTS-STARTPTS', ...x264(26)]);
    mkdirSync(files.at('out'));
    for (const name of ['low.mp4', 'high.mp4']) copyFileSync(files.at(name), files.at(`out/${name}`));
  }, 60_000);

  it('has ten tasks', () => expect(lines).toHaveLength(10));

  /** Expected per command: a part of standard output, or of a file. */
  const leaves: readonly (readonly [part: string, file?: string])[] = [
    ['vmaf_v0.6.1: '],
    ['<svg', 'compare.html'],
    ['--offset 7'],
    ['vmaf_v0.6.1: '],
    ['PNG', 'worst.png'],
    ['"psnr_y"', 'accepted.json'],
    ['failures="0"', 'vmaf.xml'],
    ['crf'],
    ['Frame,', 'frames.csv'],
    ['low.mp4', 'results.jsonl'],
  ];

  test.each(lines.map((line, i) => [line, ...(leaves[i] ?? [''])] as const))(
    '%s',
    async (line, part, file) => {
      const { code, stdout, stderr } = await anyvmaf(words(line).slice(1), { cwd: files.at('.') });
      expect(code, stderr).toBe(0);
      expect(file === undefined ? stdout : readFileSync(files.at(file), 'latin1')).toContain(part);
    },
    120_000,
  );
});
