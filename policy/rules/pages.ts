import { z } from 'zod';
import { makeVisible } from '../text/visible';
import { aggregateDefinition } from './aggregate/aggregate';
import { BUILTIN_VALIDATORS } from './builtin';
import type { ValidatorDefinition } from './define';
import { guardians } from './guardians';
import type { SourceTool } from '../contracts/source-tool';
import type { Pack } from './pack';
import type { ExampleBytes, PackRule } from './rule-maker';
import { scanText, WAYS } from './secrets/scan';
import { disjoint } from './secrets/secret-span';

/** Of each source tool: its name, and the language of its diffs. */
export type PageTools = readonly Pick<SourceTool, 'sourceTool' | 'render'>[];

/**
 * The pages of `docs/rules/`, by file name: made from the rules alone, so that they cannot say anything else. An example
 * that names no tool is of the first one.
 */
export function rulePages(packs: readonly Pack[], tools: PageTools): ReadonlyMap<string, string> {
  return new Map([
    ['README.md', indexPage(packs)],
    ...packs.map((pack) => [`${pack.name}.md`, packPage(pack, tools)] as const),
    [
      'guardians.md',
      plainPage(
        'guardians',
        'Guardians that a bundle names one by one, with settings of its own: `- rule: conflict_point`.',
        guardians as readonly unknown[] as readonly ValidatorDefinition[],
      ),
    ],
    [
      'aggregates.md',
      plainPage(
        'aggregates',
        'A limit over the changes of a window, so that a large one cannot pass in small parts: `- aggregate: {…}`. See [policy as code](../policy.md#limits-over-many-changes).',
        [aggregateDefinition as unknown as ValidatorDefinition],
      ),
    ],
    [
      'builtin.md',
      plainPage(
        'builtin',
        'What every plan ends with, in this order. A bundle can neither name, move, relax nor waive them.',
        BUILTIN_VALIDATORS as readonly unknown[] as readonly ValidatorDefinition[],
      ),
    ],
  ]);
}

const MADE = '<!-- Made by `npm run docs:rules` from the rules themselves. -->';

function indexPage(packs: readonly Pack[]): string {
  return page([
    '# Rules',
    MADE,
    'A bundle names a pack, and may set a level or settings for each of its rules. `forbid` rolls the change back and asks nobody, `confirm` asks a person, `advise` is shown, `shadow` is only counted. The examples on these pages are run by the tests.',
    ...packs.flatMap(({ name, about, rules }) => [
      `## [${name}](${name}.md)`,
      about,
      table(
        ['Rule', 'Level', 'Why'],
        rules.map(({ definition: d }) => [
          `[\`${d.implementation}\`](${name}.md#${d.implementation})`,
          d.defaultLevel,
          cell(d.why),
        ]),
      ),
    ]),
    '## Others',
    'Single guardians: [guardians](guardians.md). Limits over many changes: [aggregates](aggregates.md). What every plan ends with: [builtin](builtin.md).',
  ]);
}

function packPage({ name, about, rules }: Pack, tools: PageTools): string {
  return page([`# ${name}`, MADE, about, ...rules.flatMap((rule) => ruleSection(rule, tools))]);
}

function ruleSection(rule: PackRule, tools: PageTools): string[] {
  const { definition: d, severity, missing, examples } = rule;
  const tool = examples.sourceTool ?? (d.sourceTools === '*' ? tools[0]?.sourceTool : d.sourceTools[0]) ?? '';
  const goodTool = examples.goodSourceTool ?? tool;
  return [
    `## ${d.implementation}`,
    d.why,
    table(
      ['Level', 'Severity', 'Reads', 'Diffs of', 'Revision'],
      [[d.defaultLevel, severity, d.reads.join(', '), toolsOf(d), String(d.logicRevision)]],
    ),
    missing,
    ...settingsOf(d),
    ...(examples.config === undefined ? [] : [`With the settings \`${JSON.stringify(examples.config)}\`:`]),
    ...example('Fires', examples.bad, languageOf(tool, tools), tool, examples.metadata?.bad, examples.rows?.bad),
    ...example(
      'Passes',
      examples.good,
      languageOf(goodTool, tools),
      goodTool,
      examples.metadata?.good,
      examples.rows?.good,
    ),
  ];
}

function plainPage(name: string, about: string, definitions: readonly ValidatorDefinition[]): string {
  return page([
    `# ${name}`,
    MADE,
    about,
    ...definitions.flatMap((d) => [
      `## ${d.implementation}`,
      d.why,
      table(
        ['Level', 'Kind', 'Reads', 'Diffs of', 'Revision'],
        [
          [
            d.defaultLevel,
            d.kind,
            d.reads.join(', ') || 'the other findings or the ledger',
            toolsOf(d),
            String(d.logicRevision),
          ],
        ],
      ),
      ...settingsOf(d),
    ]),
  ]);
}

function toolsOf({ sourceTools }: ValidatorDefinition): string {
  return sourceTools === '*' ? 'every tool' : sourceTools.join(', ');
}

/** The settings as their schema has them. */
function settingsOf({ config }: ValidatorDefinition): string[] {
  const schema = z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' }) as {
    readonly properties?: Readonly<Record<string, { readonly description?: string; readonly default?: unknown }>>;
  };
  const rows = Object.entries(schema.properties ?? {}).map(([name, { description = '', default: value }]) => [
    `\`${name}\``,
    cell(description),
    value === undefined ? 'none' : cell(`\`${shortly(JSON.stringify(value))}\``),
  ]);
  return rows.length === 0 ? [] : [table(['Setting', 'What it is', 'Default'], rows)];
}

function shortly(text: string): string {
  return text.length <= 120 ? text : `${text.slice(0, 100)}…`;
}

function languageOf(sourceTool: string, tools: PageTools): string | null {
  return tools.find((tool) => tool.sourceTool === sourceTool)?.render.language ?? null;
}

function example(
  title: string,
  bytes: ExampleBytes,
  language: string | null,
  tool: string,
  metadata: unknown,
  rows: number | undefined,
): string[] {
  const beside = [
    ...(metadata === undefined ? [] : [`with the metadata \`${safe(JSON.stringify(metadata))}\``]),
    ...(rows === undefined ? [] : [`where the dry run touches ${rows} rows`]),
    ...(language === null ? [`staged for \`${tool}\``] : []),
  ].join(', ');
  const isText = typeof bytes === 'string';
  const heading = [title, ...(isText ? [] : ['bytes in base64']), ...(beside === '' ? [] : [beside])].join(', ');
  const text = isText ? safe(bytes).trimEnd() : bytes.base64;
  const fence = text.includes('```') ? '````' : '```';
  return [`${heading}:`, `${fence}${isText ? (language ?? 'text') : 'text'}\n${text}\n${fence}`];
}

/** Odd characters made visible, and the samples of keys without their letters: a page must not be one of its own bad examples. */
function safe(text: string): string {
  const { found } = scanText(text);
  let shown = '';
  let from = 0;
  for (const { kind, start, end } of disjoint(WAYS.flatMap((way) => found[way]))) {
    shown += `${text.slice(from, start)}[a ${kind.replaceAll('_', ' ')} of ${end - start} characters]`;
    from = end;
  }
  return makeVisible(shown + text.slice(from).replaceAll('\r\n', '\n')).text;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function page(parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`;
}
