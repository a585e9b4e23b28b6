import { z } from 'zod';
import { makeVisible } from '../text/visible';
import { aggregateDefinition } from './aggregate/aggregate';
import { BUILTIN_VALIDATORS } from './builtin';
import type { ValidatorDefinition } from './define';
import { guardians } from './guardians';
import type { SourceTool } from '../contracts/source-tool';
import type { Pack } from './pack';
import type { ExampleBytes, PackRule } from './rule-maker';
import { scanText, SECRET_CATEGORIES } from './secrets/scan';
import { disjoint } from './secrets/secret-span';

/** The source tools, with the language of their diffs. */
type PageTools = readonly Pick<SourceTool, 'sourceTool' | 'render'>[];

/**
 * The pages of `docs/rules/` by file name, generated from the rules only. An example without a source tool is shown for the
 * first tool in `tools`.
 */
export function rulePages(packs: readonly Pack[], tools: PageTools): ReadonlyMap<string, string> {
  return new Map([
    ['README.md', indexPage(packs)],
    ...packs.map((pack) => [`${pack.name}.md`, packPage(pack, tools)] as const),
    [
      'guardians.md',
      plainPage(
        'guardians',
        'A bundle enables each of these guardians separately, with its settings: `- rule: conflict_point`.',
        guardians as readonly unknown[] as readonly ValidatorDefinition[],
      ),
    ],
    [
      'aggregates.md',
      plainPage(
        'aggregates',
        'Limits the sum of all changes in a time window, so that a large change cannot pass as many small ones: `- aggregate: {…}`. See [policy as code](../policy.md#limits-over-many-changes).',
        [aggregateDefinition as unknown as ValidatorDefinition],
      ),
    ],
    [
      'builtin.md',
      plainPage(
        'builtin',
        'Every plan ends with these validators, in this order. A bundle cannot name, move, relax or waive them.',
        BUILTIN_VALIDATORS as readonly unknown[] as readonly ValidatorDefinition[],
      ),
    ],
  ]);
}

const GENERATED = '<!-- Generated from the rules by `npm run docs:rules`. Do not edit. -->';

function indexPage(packs: readonly Pack[]): string {
  return page([
    '# Rules',
    GENERATED,
    'A bundle enables a pack by name and may set the level and the settings of each rule. At level `forbid` a finding rolls the change back without asking a person, at `confirm` a person must answer it, at `advise` it is only shown, at `shadow` it is only counted. The tests run the examples on these pages.',
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
    '## Other validators',
    '- [Guardians](guardians.md): validators that a bundle enables one by one.\n- [Aggregates](aggregates.md): limits over many changes.\n- [Built-in validators](builtin.md): part of every plan.',
  ]);
}

function packPage({ name, about, rules }: Pack, tools: PageTools): string {
  return page([`# ${name}`, GENERATED, about, ...rules.flatMap((rule) => ruleSection(rule, tools))]);
}

function ruleSection(rule: PackRule, tools: PageTools): string[] {
  const { definition: d, severity, missing, examples } = rule;
  const tool = examples.sourceTool ?? (d.sourceTools === '*' ? tools[0]?.sourceTool : d.sourceTools[0]) ?? '';
  const goodTool = examples.goodSourceTool ?? tool;
  return [
    `## ${d.implementation}`,
    d.why,
    table(
      ['Level', 'Severity', 'Reads', 'Source tools', 'Revision'],
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
    GENERATED,
    about,
    ...definitions.flatMap((d) => [
      `## ${d.implementation}`,
      d.why,
      table(
        ['Level', 'Kind', 'Reads', 'Source tools', 'Revision'],
        [
          [
            d.defaultLevel,
            d.kind,
            d.reads.join(', ') || 'other findings or the ledger',
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
  return sourceTools === '*' ? 'all' : sourceTools.join(', ');
}

/** Table of the settings in the configuration schema; empty if there are none. */
function settingsOf({ config }: ValidatorDefinition): string[] {
  const schema = z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' }) as {
    readonly properties?: Readonly<Record<string, { readonly description?: string; readonly default?: unknown }>>;
  };
  const rows = Object.entries(schema.properties ?? {}).map(([name, { description = '', default: value }]) => [
    `\`${name}\``,
    cell(description),
    value === undefined ? 'none' : cell(`\`${abbreviate(JSON.stringify(value))}\``),
  ]);
  return rows.length === 0 ? [] : [table(['Setting', 'Description', 'Default'], rows)];
}

function abbreviate(text: string): string {
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
  const context = [
    ...(metadata === undefined ? [] : [`with the metadata \`${safe(JSON.stringify(metadata))}\``]),
    ...(rows === undefined ? [] : [`if the dry run touches ${rows} rows`]),
    ...(language === null ? [`staged for \`${tool}\``] : []),
  ].join(', ');
  const isText = typeof bytes === 'string';
  const heading = [title, ...(isText ? [] : ['bytes in base64']), ...(context === '' ? [] : [context])].join(', ');
  const text = isText ? safe(bytes).trimEnd() : bytes.base64;
  const fence = text.includes('```') ? '````' : '```';
  return [`${heading}:`, `${fence}${isText ? (language ?? 'text') : 'text'}\n${text}\n${fence}`];
}

/** Makes hidden characters visible and replaces sample secrets, so that the generated pages do not fire the rules themselves. */
function safe(text: string): string {
  const { found } = scanText(text);
  let shown = '';
  let from = 0;
  for (const { kind, start, end } of disjoint(SECRET_CATEGORIES.flatMap((category) => found[category]))) {
    shown += `${text.slice(from, start)}[a ${kind.replaceAll('_', ' ')} of ${end - start} characters]`;
    from = end;
  }
  return makeVisible(shown + text.slice(from).replaceAll('\r\n', '\n'));
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
