/**
 * @module core/system-limits
 * Recognises failures for lack of files, memory or processes, and names the limit to raise.
 */
import { AnyvmafError, capital } from './errors.js';

type Limited = 'files' | 'system files' | 'memory' | 'processes';

/** Codes and messages, possibly in text from other threads. */
const LIMITS: readonly (readonly [RegExp, Limited])[] = [
  [/\bEMFILE\b/, 'files'],
  [/\bENFILE\b/, 'system files'],
  [/\bENOMEM\b|out.of.memory|cannot allocate|could not allocate|allocation.failed/i, 'memory'],
  [/\bEAGAIN\b|ERR_WORKER_INIT_FAILED/, 'processes'],
];

/** Open files that suffice for any run. */
const ENOUGH_FILES = 1024;

/**
 * Explains a failure by a limit of the system.
 * @param cause the thrown value, or a sentence about it from another thread
 * @param doing beginning of the sentence: `cannot read a.mp4`
 * @returns a `resource` error; `undefined` for other causes and for AnyvmafErrors
 */
export function limitError(cause: unknown, doing?: string): AnyvmafError | undefined {
  const limited = limitOf(cause);
  if (limited === undefined) return undefined;
  const why = sentence(limited);
  return new AnyvmafError('resource', doing === undefined ? capital(why) : `${doing}: ${why}`, { cause });
}

function limitOf(cause: unknown): Limited | undefined {
  if (cause instanceof AnyvmafError) return undefined;
  const text =
    cause instanceof Error ? `${'code' in cause ? cause.code : ''} ${cause.message}` : String(cause);
  return LIMITS.find(([pattern]) => pattern.test(text))?.[1];
}

function sentence(limited: Limited): string {
  const { files, memory, processes } = currentLimits();
  switch (limited) {
    case 'files': {
      const limit = files === undefined ? '' : `, ${files} is the limit of this process (ulimit -n)`;
      const advice =
        files === undefined || files < ENOUGH_FILES
          ? `raise the limit, such as with "ulimit -n ${ENOUGH_FILES}"`
          : 'raise the limit, or give fewer videos at once';
      return `too many files are open${limit}; ${advice}.`;
    }
    case 'system files':
      return 'the system has too many files open; end other programs, or raise its limit (fs.file-max in Linux).';
    case 'processes': {
      const limit = processes === undefined ? '' : `; ${processes} is the limit of this user (ulimit -u)`;
      return `the system starts no more processes and threads${limit}; use fewer threads, or raise the limit.`;
    }
    default:
      return memory === undefined
        ? 'memory ran out; use fewer threads, or free memory.'
        : `memory ran out, the address space of this process is limited to ${memory} MiB (ulimit -v), and WebAssembly ` +
            'reserves 10 GiB of it for each worker; raise the limit, or set NODE_OPTIONS=--disable-wasm-trap-handler, ' +
            'which makes it reserve what it uses.';
  }
}

/** The limits that are set: files, MiB of address space, processes. Opens no file. */
function currentLimits(): { readonly files?: number; readonly memory?: number; readonly processes?: number } {
  if (typeof process === 'undefined' || !process.report) return {};
  // Missing in the types of Node.js 20. Without it, the report resolves names of network addresses.
  const report: typeof process.report & { excludeNetwork?: boolean } = process.report;
  const before = report.excludeNetwork ?? false;
  try {
    report.excludeNetwork = true;
    const { userLimits: limits } = Object(report.getReport());
    const [files, memory, processes] = [
      limits?.open_files?.soft,
      limits?.virtual_memory_kbytes?.soft,
      limits?.max_user_processes?.soft,
    ];
    return {
      ...(typeof files === 'number' && { files }),
      // In bytes, despite the name.
      ...(typeof memory === 'number' && { memory: Math.floor(memory / 2 ** 20) }),
      ...(typeof processes === 'number' && { processes }),
    };
  } catch {
    return {};
  } finally {
    report.excludeNetwork = before;
  }
}
