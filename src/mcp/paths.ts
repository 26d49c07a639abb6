/**
 * @module mcp/paths
 * Parameters that name files: schemas declare them with these functions, and the paths are checked before the handler
 * runs. Also endings of video files.
 */
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import * as z from 'zod/v4';
import { AnyvmafError, ioError, modelError } from '../core/errors.js';
import { isOnnxPath } from '../core/names.js';
import { quoted, shown } from '../core/printable.js';
import { type AllowedPaths, allowedModel, modelOfFile } from '../files/allowed-paths.js';

export const RAW_ENDING = '.yuv';

export const VIDEO_ENDINGS: ReadonlySet<string> = new Set(
  (
    '.3gp .264 .265 .av1 .avi .flv .h264 .h265 .hevc .ivf .m2ts .m2v .m4v .mkv .mov .mp4 .mpeg .mpg .mts .mxf .obu .ogv .ts ' +
    '.vob .webm .wmv .y4m .yuv'
  ).split(' '),
);

/** Resolves paths. Pass `origin` to every function that opens a file: a path may lead elsewhere after the check. */
export type ToolFiles = Pick<
  AllowedPaths,
  'origin' | 'allowed' | 'resolveInput' | 'sizeOf' | 'resolveOutput'
>;

declare const kind: unique symbol;

/** The real path of an allowed file. */
export type CheckedPath = string & { readonly [kind]: 'path' };

/** A VMAF model string or a tiny model; files are real paths of allowed ones. */
export type CheckedModel = string & { readonly [kind]: 'model' };

/** A file as the caller named it, and its real path. */
export interface InputFile {
  readonly named: string;
  readonly path: CheckedPath;
}

/** A model as the caller named it, and as the API takes it. */
export interface InputModel {
  readonly named: string;
  readonly text: CheckedModel;
}

/** A list item whose file is missing or not allowed. */
export interface RefusedItem {
  readonly named: string;
  readonly refusal: AnyvmafError;
}

/** A reference; without a path for a no-reference score. */
export interface ReferenceFile {
  readonly named: string;
  readonly path?: CheckedPath;
}

/** @param others the object with the argument */
type Check<T> = (named: string, files: ToolFiles, others: object) => Promise<T>;

/** An argument that names a file, not checked yet. */
export class Unchecked<T> {
  /** @param check throws an {@link AnyvmafError} `io` for a file that is missing or not allowed */
  constructor(readonly check: (files: ToolFiles, others: object) => Promise<T>) {}
}

/** Arguments with checked files. */
export type CheckedArguments<T> =
  T extends Unchecked<infer Checked>
    ? Checked
    : T extends object
      ? { [Key in keyof T]: CheckedArguments<T[Key]> }
      : T;

/** @throws {AnyvmafError} `io` for the first file, in the order of the schema, that is missing or not allowed */
export async function checkPaths<T>(input: T, files: ToolFiles): Promise<CheckedArguments<T>> {
  return (await checkValue(input, files)) as CheckedArguments<T>;
}

async function checkValue(value: unknown, files: ToolFiles, others = {}): Promise<unknown> {
  if (value instanceof Unchecked) return value.check(files, others);
  if (typeof value !== 'object' || value === null) return value;
  const checked: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value))
    checked.push([key, await checkValue(member, files, value)]);
  return Array.isArray(value) ? checked.map(([, member]) => member) : Object.fromEntries(checked);
}

export function inputPath(description: string) {
  return declared(z.string().min(1).describe(description), checkFile);
}

/** An optional file to write, which must not exist yet, in an existing folder. */
export function outputPath(description: string) {
  return declared(z.string().min(1).max(4096), async (named, files): Promise<InputFile> => {
    const path = (await files.resolveOutput(named)) as CheckedPath;
    if (!existsSync(path)) return { named, path };
    throw ioError(`${quoted(named)} already exists and is not overwritten; name another file`);
  })
    .optional()
    .describe(description);
}

/** The optional reference of a pair; with `no_reference` it is not checked. */
export function referencePath(description: string) {
  return declared(
    z.string().min(1),
    async (named, files, others): Promise<ReferenceFile> =>
      'no_reference' in others && others.no_reference === true ? { named } : checkFile(named, files),
  )
    .optional()
    .describe(description);
}

/** Files to read; a refused one does not stop the others. */
export function inputPaths(description: string, most: number) {
  return list(description, most, orRefusal(checkFile));
}

/** A libvmaf model string, in which `path=` names a file. @param fallback default value */
export function modelString(description: string, fallback: string) {
  return declared(z.string().min(1).default(fallback).describe(description), checkModelString);
}

export function modelStrings(description: string, most: number) {
  return list(description, most, checkModelString);
}

export function tinyModel(description: string) {
  return declared(z.string().min(1).describe(description), checkTinyModel);
}

/** Tiny models; a refused one does not stop the others. */
export function tinyModels(description: string, most: number) {
  return list(description, most, orRefusal(checkTinyModel));
}

/** A VMAF model by name, a tiny model by id, or the file of either. */
export function modelName(description: string) {
  return declared(z.string().min(1).describe(description), findModel);
}

function declared<Schema extends z.ZodType<string>, T>(schema: Schema, check: Check<T>) {
  return schema.transform((named) => new Unchecked((files, others) => check(named, files, others)));
}

function list<T>(description: string, most: number, check: Check<T>) {
  return z
    .array(declared(z.string().min(1), check))
    .min(1)
    .max(most)
    .describe(description);
}

function orRefusal<T>(check: Check<T>): Check<T | RefusedItem> {
  return async (named, files, others) => {
    try {
      return await check(named, files, others);
    } catch (error) {
      if (error instanceof AnyvmafError) return { named, refusal: error };
      throw error;
    }
  };
}

export async function checkFile(named: string, files: ToolFiles): Promise<InputFile> {
  return { named, path: (await files.resolveInput(named)) as CheckedPath };
}

/** Files of the package by their names in list_models, which are always allowed. */
const SHIPPED_TINY = /^model\/tiny\/([\w./-]+\.onnx)$/;

export async function checkModelString(named: string, files: ToolFiles): Promise<InputModel> {
  return { named, text: (await allowedModel(named, files)) as CheckedModel };
}

async function checkTinyModel(named: string, files: ToolFiles): Promise<InputModel> {
  if (!isOnnxPath(named)) return { named, text: named as CheckedModel };
  const shipped = SHIPPED_TINY.exec(named)?.[1];
  if (shipped !== undefined) {
    const { listTinyModels } = await import('../index.js');
    const found = (await listTinyModels()).find(({ file }) => file === shipped);
    if (found) return { named, text: found.id as CheckedModel };
  }
  return { named, text: (await files.resolveInput(named)) as CheckedModel };
}

const MODEL_FORMATS = ['json', 'pkl', 'onnx'] as const;

export type FoundModel = Awaited<ReturnType<typeof findModel>>;

/** @returns a VMAF or tiny model of the registry, or the path of a file, with its model string if it is JSON */
async function findModel(named: string, files: ToolFiles) {
  const { listModels, listTinyModels } = await import('../index.js');
  const models = await listModels();
  const summary =
    models.find(({ name }) => [name, `${name}.json`].includes(named)) ??
    models.find(({ file }) => `model/${file}` === named);
  if (summary) return { summary, text: `version=${summary.name}` as CheckedModel };
  const tiny = (await listTinyModels()).find(({ id, file }) =>
    [id, file, `model/tiny/${file}`].includes(named),
  );
  if (tiny) return { tiny };
  const format = MODEL_FORMATS.find((known) => extname(named) === `.${known}`);
  if (format === undefined)
    throw modelError(`model '${shown(named)}' not found; run list_models to see available models.`);
  const { path } = await checkFile(named, files);
  return { path, format, ...(format === 'json' && { text: modelOfFile(path) as CheckedModel }) };
}
