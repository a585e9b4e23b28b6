import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/root';
import type { SubjectExample } from './evaluate-input';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const base64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));

/** A diff written by hand: inputs as they are, and material for the generated ones. */
export interface Seed {
  readonly id: string;
  readonly sourceTool: string;
  readonly bytes: Uint8Array;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export const UNKNOWN_TOOL = 'UnknownTool';
const ATTACKS = join(ROOT, 'test/corpus/attacks');
/** Cases of public projects beside the checkout; fewer seeds without them. */
const CORPORA = join(ROOT, '../shared/corpora');

/** Documents of rows, of which neither examples nor corpora have many. */
const ROW_SEEDS: readonly Seed[] = [
  { table: 'public.orders', key: { id: 7 }, expect: { version: 3 }, set: { cents: 450, note: 'ok', paid: true } },
  { op: 'insert', table: 'public.users', key: { id: 'u-1', tenant: 2 }, set: { role: 'admin', tags: ['a', 'b'] } },
  { op: 'delete', table: 'audit.log', key: { id: 9 }, expect: { rowSha: 'a'.repeat(64) } },
  { table: 'shop.prices', key: { sku: 'x' }, expect: { cents: 1, at: null }, set: { doc: { a: [1, { b: 'c' }] } } },
].map((row, i, all) => ({
  id: `rows/${i}`,
  sourceTool: 'SQLCAS',
  bytes: utf8(JSON.stringify({ rows: [row, ...all.slice(i + 1)] })),
  metadata: { table_name: row.table },
}));

export function allSeeds(examples: readonly SubjectExample[]): readonly Seed[] {
  return [...exampleSeeds(examples), ...ROW_SEEDS, ...attackSeeds(), ...corpusSeeds()];
}

export function exampleSeeds(examples: readonly SubjectExample[]): readonly Seed[] {
  return examples.flatMap(({ implementation, sourceTools, examples: example }) =>
    (['bad', 'good'] as const).map((which) => {
      const given = example[which];
      const own = sourceTools === '*' ? UNKNOWN_TOOL : (sourceTools[0] ?? UNKNOWN_TOOL);
      return {
        id: `${implementation}/${which}`,
        sourceTool: (which === 'good' ? example.goodSourceTool : undefined) ?? example.sourceTool ?? own,
        bytes: typeof given === 'string' ? utf8(given) : base64(given.base64),
        metadata: { ...example.metadata?.[which] },
      };
    }),
  );
}

interface Attack {
  readonly id: string;
  readonly raw?: string;
  readonly rawBase64?: string;
  readonly generate?: Readonly<Record<'head' | 'unit' | 'middle' | 'tail' | 'end', string>> & {
    readonly times: number;
  };
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export function attackSeeds(): readonly Seed[] {
  return readdirSync(ATTACKS)
    .sort()
    .flatMap((file) => {
      const tool = file.replace('.json', '');
      return (JSON.parse(readFileSync(join(ATTACKS, file), 'utf8')) as Attack[]).map((attack) => ({
        id: `attacks/${tool}/${attack.id}`,
        sourceTool: tool === 'conditions' ? UNKNOWN_TOOL : tool,
        bytes: attackBytes(attack),
        metadata: attack.metadata ?? {},
      }));
    });
}

function attackBytes({ raw, rawBase64, generate }: Attack): Uint8Array {
  if (rawBase64 !== undefined) return base64(rawBase64);
  if (generate === undefined) return utf8(raw ?? '');
  const { head, unit, times, middle = '', tail = '', end = '' } = generate;
  return utf8(head + unit.repeat(times) + middle + tail.repeat(times) + end);
}

function corpusSeeds(): readonly Seed[] {
  if (!existsSync(CORPORA)) return [];
  return readdirSync(CORPORA)
    .filter((file) => /\.jsonl?$/.test(file))
    .sort()
    .flatMap((file) => {
      const text = readFileSync(join(CORPORA, file), 'utf8');
      const lines = text.split('\n').filter((line) => line !== '');
      const cases = (file.endsWith('.jsonl') ? lines.map((line) => JSON.parse(line)) : JSON.parse(text)) as unknown;
      return diffsIn(cases).map((diff, i) => ({ id: `corpora/${file}#${i}`, metadata: {}, ...diff }));
    });
}

type Diff = Pick<Seed, 'sourceTool' | 'bytes'>;

/** Diffs among the cases of a corpus, by the members in which each project keeps them. */
function diffsIn(value: unknown): readonly Diff[] {
  if (Array.isArray(value)) return value.flatMap(diffsIn);
  if (typeof value !== 'object' || value === null) return [];
  const one = value as Readonly<Record<string, unknown>>;
  if (Array.isArray(one['resource_changes'])) {
    const configuration = { root_module: {} };
    const plan = { format_version: '1.2', terraform_version: '1.9.0', configuration, ...one };
    return [{ sourceTool: 'TerraformPlan', bytes: utf8(JSON.stringify(plan)) }];
  }
  if (Array.isArray(one['patch'])) return [{ sourceTool: 'HTTPPatch', bytes: utf8(requestWith(one['patch'])) }];
  return Object.entries(one).flatMap(([key, member]): readonly Diff[] => {
    if (typeof member !== 'string') return diffsIn(member);
    if (key === 'sql' || key === 'statement') return [{ sourceTool: 'SQLDryRun', bytes: utf8(member) }];
    if (key === 'patchB64') return [{ sourceTool: 'GitPatch', bytes: base64(member) }];
    if (key === 'inputB64')
      return [{ sourceTool: 'GitPatch', bytes: utf8(patchWith(Buffer.from(member, 'base64').toString('utf8'))) }];
    if (key === 'text')
      return [{ sourceTool: 'SQLDryRun', bytes: utf8(`-- ${member.replaceAll('\n', ' ')}\nSELECT 1`) }];
    return [];
  });
}

const requestWith = (body: unknown): string =>
  JSON.stringify({
    method: 'PATCH',
    url: 'https://api.example.com/v1/orders/17',
    contentType: 'application/json-patch+json',
    headers: { 'If-Match': '"7"' },
    body,
  });

/** The text as a new file. */
function patchWith(text: string): string {
  const lines = text.replace(/\n$/, '').split('\n');
  return [
    'diff --git a/app/settings.txt b/app/settings.txt',
    'new file mode 100644',
    'index 0000000..1f9d725',
    '--- /dev/null',
    '+++ b/app/settings.txt',
    `@@ -0,0 +1,${lines.length} @@`,
    ...lines.map((line) => `+${line}`),
    '',
  ].join('\n');
}
