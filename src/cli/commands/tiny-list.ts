/**
 * @module cli/commands/tiny-list
 * `anyvmaf tiny list|describe|devices`: which tiny models there are, what one is made of, and what can run them.
 */
import { usageError } from '../../core/errors.js';
import { printable, quoted } from '../../core/printable.js';
import type { TinyDeviceStatus, TinyModelDescription, TinyPort, TinyRegistryEntry } from '../../index.js';
import { wrap } from '../../report/terminal.js';
import { command, type HelpText, helpWidth, twoColumns } from '../command.js';
import { EXIT } from '../exit.js';
import { grouped, HELP_OPTION } from '../options.js';

const NAME = 'anyvmaf tiny';

const OPTIONS = grouped<{ readonly json: boolean }>('Output', [
  { name: 'json', help: 'the answer as JSON', read: () => ({ json: true }) },
  HELP_OPTION,
]);

const page: HelpText = {
  usage: [
    `${NAME} list [--json]`,
    `${NAME} describe MODEL [--json]`,
    `${NAME} manifest MODEL`,
    `${NAME} devices [--json]`,
  ],
  about:
    'Lists the tiny ONNX models that ship with the package, says what one of them or an ONNX file is made of (it is read ' +
    'and checked, not run), prints the manifest of its files, which a registry states and a signature signs, and lists the ' +
    'devices that --tiny-device can name.',
};

/** The actions of this command; commands/tiny has those that evaluate. */
export const LISTINGS: readonly string[] = ['list', 'describe', 'manifest', 'devices'];

/** Lists models and devices. */
export const tinyListing = command(NAME, OPTIONS, page, async ({ settings, positionals, terminal }) => {
  const width = helpWidth(terminal.columns);
  const [action, model, surplus] = positionals;
  const api = await import('../../index.js');
  const excess = action === 'describe' || action === 'manifest' ? surplus : model;
  if (excess !== undefined) {
    throw usageError(`${quoted(excess)} is one argument too many: ${page.usage.join(', or ')}`);
  }
  const print = async <T>(data: T, text: (data: T) => string): Promise<number> => {
    await terminal.print(settings.json ? `${JSON.stringify(data, null, 2)}\n` : text(data));
    return EXIT.ok;
  };
  if (action === 'list') return print(await api.listTinyModels(), (list) => listing(list, width));
  if (action === 'devices') return print(await api.listTinyDevices(), (list) => devices(list, width));
  if (model === undefined) throw usageError(`${NAME} ${action} needs a model: ${NAME} ${action} MODEL`);
  const found = await api.describeTinyModel(model);
  // Exactly the bytes that are signed.
  if (action === 'manifest') await terminal.print(found.manifest);
  else return print(found, (description) => describe(description, width));
  return EXIT.ok;
});

function listing(list: readonly TinyRegistryEntry[], width: number): string {
  if (list.length === 0)
    return 'No tiny model ships with this package; --tiny-model takes the path of an ONNX file.\n';
  const rows = list.map(({ id, kind, description, notes, smoke, experimental }): [string, string] => [
    id,
    printable(
      `${kind}${smoke ? ', for trying things out' : ''}${experimental === undefined ? '' : ', experimental'}: ` +
        `${description ?? notes ?? ''}${experimental === undefined ? '' : ` Values are ${experimental}.`}`,
    ),
  ]);
  return `Tiny models, for --tiny-model ID; see '${NAME} describe ID':\n\n${twoColumns(rows, width)}\n`;
}

/** The state of a device, for a table. */
export function deviceText({ available, runtime, adapter, software, how }: TinyDeviceStatus): string {
  if (!available) return printable(`not here. ${how ?? ''}`);
  const on = adapter === undefined ? '' : ` on ${adapter}${software ? ', which is software' : ''}`;
  return printable(`here (${runtime}${on})`);
}

function devices(list: readonly TinyDeviceStatus[], width: number): string {
  const rows = list.map((status): [string, string] => [status.device, deviceText(status)]);
  return `Devices, for --tiny-device NAME:\n\n${twoColumns(rows, width)}\n`;
}

function describe(model: TinyModelDescription, width: number): string {
  const { registry, scaler, features, codecs } = model;
  const rows: [string, string][] = [
    ['kind', model.kind],
    ...(registry?.experimental === undefined
      ? []
      : [['experimental', registry.experimental] as [string, string]]),
    ['score', model.name ?? 'vmaf_tiny_model (no sidecar names it)'],
    ['file', `${model.file}, ${model.bytes} bytes`],
    ['sha256', `${model.sha256}${registry ? ' (as registered)' : ' (no registry lists it)'}`],
    [
      'manifest',
      `${model.manifestSha256} of ${model.parts.map(({ name }) => name).join(', ')}${model.registered ? ' (as registered)' : ''}`,
    ],
    ['inputs', model.inputs.map(portText).join('; ')],
    ['outputs', model.outputs.map(portText).join('; ')],
    ...(features ? [['features', features.join(', ')] as [string, string]] : []),
    ...(scaler ? [['scaler', scaler.inGraph ? 'in the graph' : 'in the sidecar'] as [string, string]] : []),
    ...(codecs ? [['encoders', codecs.join(', ')] as [string, string]] : []),
    ['weights', `${model.parameters}, ${model.quantisation}`],
    [
      'operators',
      Object.entries(model.operators)
        .map(([name, count]) => `${name} ${count}`)
        .join(', '),
    ],
    ['opset', `${model.opset}${model.producer === '' ? '' : `, by ${model.producer}`}`],
    ...(registry?.licence === undefined ? [] : [['licence', registry.licence] as [string, string]]),
    ...(registry?.card === undefined ? [] : [['card', `model/tiny/${registry.card}`] as [string, string]]),
  ];
  const about = registry?.description ?? registry?.notes;
  return [
    `${printable(model.source)}\n`,
    ...(about === undefined ? [] : [`${wrap(printable(about), width).join('\n')}\n`]),
    `${twoColumns(
      rows.map(([name, value]) => [name, printable(value)]),
      width,
    )}\n`,
    ...model.warnings.map((warning) => `${wrap(printable(warning), width).join('\n')}\n`),
  ].join('\n');
}

const TYPES: Readonly<Record<number, string>> = { 1: 'float32', 7: 'int64', 10: 'float16', 11: 'float64' };

function portText({ name, type, dims }: TinyPort): string {
  const shape = dims ? `[${dims.map((size) => size ?? '?').join(', ')}]` : 'of any shape';
  return `${name} ${TYPES[type] ?? `type ${type}`} ${shape}`;
}
