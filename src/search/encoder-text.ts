/**
 * @module search/encoder-text
 * Encoders as people write them.
 */
import { requireText } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import { showValue } from '../core/printable.js';
import type { EncoderChoice } from './types.js';

/**
 * Parses an encoder with its options: `libx264`, `libx264:preset=slow:tune=film`.
 * @throws {AnyvmafError} `usage`
 */
export function parseEncoder(text: string): Required<Pick<EncoderChoice, 'encoder' | 'encoderOptions'>> {
  requireText('text', text, 'an encoder such as libx264:preset=slow');
  const [encoder = '', ...rest] = text.split(':');
  const options = rest.map((option) => /^([^=]+)=(.*)$/s.exec(option));
  if (encoder === '' || options.includes(null)) {
    throw usageError(
      `the encoder is ${showValue(text)}, but it must be ffmpeg's name of one, with options after it where wanted, such as ` +
        'libx264:preset=slow.',
    );
  }
  const pairs = options.map((option) => [option?.[1] ?? '', option?.[2] ?? ''] as const);
  return { encoder, encoderOptions: Object.fromEntries(pairs) };
}
