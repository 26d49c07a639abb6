#!/usr/bin/env node
/**
 * @module cli/program/main
 * The executable: refuses a Node.js that is too old, in syntax that it still parses, and starts the program.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major > 20 || (major === 20 && minor >= 19)) {
  const { main } = await import('./program.js').catch(explain);
  await main(process.argv.slice(2));
} else {
  process.stderr.write(
    `anyvmaf: this is Node.js ${process.versions.node}, but anyvmaf needs 20.19 or newer; please update Node.js\n`,
  );
  process.exitCode = 2;
}

/** Reports too many open files, which can keep the program from loading. */
function explain(error: NodeJS.ErrnoException): never {
  if (error.code !== 'EMFILE' && error.code !== 'ENFILE') throw error;
  process.stderr.write(
    'anyvmaf: too many files are open to start; raise the limit, such as with "ulimit -n 1024"\n',
  );
  process.exit(2);
}

export {};
