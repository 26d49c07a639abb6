/**
 * @module platform/node/tiny/signatures
 * Sigstore bundles in Node, by the optional package sigstore. Whatever cannot be checked is refused.
 */
import { AnyvmafError } from '../../../core/errors.js';
import type { TinySignatures } from '../../../tiny/types.js';

/** Options of sigstore's `verify` that pin who signed. */
interface VerifyOptions {
  readonly certificateIssuer?: string;
  readonly certificateIdentityURI?: string;
  readonly certificateIdentityEmail?: string;
}

/** What of sigstore is used. */
interface Sigstore {
  verify(bundle: unknown, payload: Buffer, options: VerifyOptions): Promise<unknown>;
}

/** @param load imports the package */
export function nodeTinySignatures(
  load: (name: string) => Promise<unknown> = (name) => import(name),
): TinySignatures {
  return {
    async verify(bytes, bundle, what, signer) {
      let sigstore: Sigstore;
      try {
        const found = await load('sigstore');
        if (!isSigstore(found)) throw new Error('it has no verify');
        sigstore = found;
      } catch (cause) {
        throw new AnyvmafError(
          'model',
          `The signature of ${what} cannot be checked without the package sigstore; install it with npm install ` +
            'sigstore, or leave tiny_model_verify out.',
          { cause },
        );
      }
      try {
        const identity = signer.identity.includes('://')
          ? 'certificateIdentityURI'
          : 'certificateIdentityEmail';
        await sigstore.verify(JSON.parse(bundle), Buffer.from(bytes), {
          certificateIssuer: signer.issuer,
          [identity]: signer.identity,
        });
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message.replaceAll('\n', ' ') : String(cause);
        throw new AnyvmafError(
          'model',
          `The Sigstore bundle of ${what} does not prove that it is what was signed (${reason}); the model is not loaded.`,
          { cause },
        );
      }
    },
  };
}

function isSigstore(found: unknown): found is Sigstore {
  return (
    typeof found === 'object' && found !== null && 'verify' in found && typeof found.verify === 'function'
  );
}
