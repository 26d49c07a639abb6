/**
 * @module mcp/schemas
 * Schemas that many tools use.
 */
import * as z from 'zod/v4';

/** `null`: not finite, or unknown. */
export const value = z.number().nullable();
export const textOrNull = z.string().nullable();
export const wholeOrNull = z.int().nullable();
export const texts = z.array(z.string());
export const numbers = z.array(z.number());

/** Never empty. */
export const text = (most: number) => z.string().min(1).max(most);

export const rows = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => z.array(z.object(shape));

export const whole = (least: number, most: number) => z.int().min(least).max(most);

/** Several keys of one type. */
export function each<Type extends z.ZodType, const Key extends string>(type: Type, ...keys: readonly Key[]) {
  return Object.fromEntries(keys.map((key) => [key, type])) as Readonly<Record<Key, Type>>;
}

/** Off by default. */
export const flag = (about: string) => z.boolean().default(false).describe(about);

/** The first is the default. */
export function choice<const First extends string, const Rest extends readonly string[]>(
  of: readonly [First, ...Rest],
  about: string,
) {
  return z.enum(of).default(of[0]).describe(about);
}
