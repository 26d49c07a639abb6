/**
 * @module core/system-limits
 * Recognizes what failed because the system gives no more files, memory or processes, and says which limit to raise.
 */
import { AnyvmafError } from './errors.js';
import { capital } from './hint.js';

/** What the system limits. */
type Limited = 'files' | 'system files' | 'memory' | 'processes';

/** By codes and messages, also as they come in text from other threads. */
const LIMITS: readonly (readonly [RegExp, Limited])[] = [
  [/\bEMFILE\b/, 'files'],
  [/\bENFILE\b/, 'system files'],
  [/\bENOMEM\b|out.of.memory|cannot allocate|could not allocate|allocation.failed/i, 'memory'],
  [/\bEAGAIN\b|ERR_WORKER_INIT_FAILED/, 'processes'],
];

/** A limit on open files that is plenty for any run. */
const ENOUGH_FILES = 1024;

/**
 * Says that a limit of the system was reached.
 * @param cause what was thrown, or a sentence of another thread about it
 * @param doing what could not be done, the start of a sentence: `cannot read a.mp4`
 * @returns an error of code `resource`; `undefined` where `cause` is something else, or an error of ours already
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

/** Limits that are set: files, MiB of address space, processes. Reading them opens no file. */
function currentLimits(): { readonly files?: number; readonly memory?: number; readonly processes?: number } {
  if (typeof process === 'undefined' || !process.report) return {};
  // Not yet in the types of Node.js 20. Without it, names of the network's addresses are looked up.
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
      // The name says kilobytes, but it is what the system says, bytes.
      ...(typeof memory === 'number' && { memory: Math.floor(memory / 2 ** 20) }),
      ...(typeof processes === 'number' && { processes }),
    };
  } catch {
    return {};
  } finally {
    report.excludeNetwork = before;
  }
}
