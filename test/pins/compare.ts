import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/root';
import type { ComparedInput, Results } from './evaluate-input';
import { differencesBetween, type Difference } from './results-text';

/** How many inputs are reported in full. */
const MAX_REPORTED = 5;
const MAX_TEXT = 600;

export interface ComparedSources {
  /** The adapter in the older checkout, and the one in this. */
  readonly baseSubject: string;
  readonly subject: string;
  /** For inputs and results. */
  readonly folder: string;
  /** Names to compare; null for all. */
  readonly only: readonly string[] | null;
  /** Members of findings that are left out of the comparison, at every depth. */
  readonly ignore: readonly string[];
}

export interface Comparison {
  readonly different: number;
  /** The first ones, for people. */
  readonly report: string;
}

/** Both checkouts read the same file of inputs, each in its own process. */
export async function compareSources(sources: ComparedSources, inputs: readonly ComparedInput[]): Promise<Comparison> {
  const [base, now] = await bothResults(sources, inputs, false);
  const different = inputs.filter((_, i) => base[i] !== now[i]);
  const shown = different.slice(0, MAX_REPORTED);
  const [baseFull, nowFull] = shown.length === 0 ? [[], []] : await bothResults(sources, shown, true);
  const report = shown.map((input, i) => reportOf(input, differencesBetween(read(baseFull[i]), read(nowFull[i]))));
  return { different: different.length, report: report.join('\n\n') };
}

const read = (line: string | undefined): Results => JSON.parse(line ?? '{}') as Results;

async function bothResults(
  { baseSubject, subject, folder, only, ignore }: ComparedSources,
  inputs: readonly ComparedInput[],
  full: boolean,
): Promise<readonly [readonly string[], readonly string[]]> {
  const file = join(folder, full ? 'inputs-shown.jsonl' : 'inputs.jsonl');
  writeFileSync(file, inputs.map((input) => `${JSON.stringify(input)}\n`).join(''));
  const run = async (which: string, path: string): Promise<readonly string[]> => {
    const output = join(folder, `${which}${full ? '-full' : ''}.txt`);
    const names = [
      ...(only === null ? [] : ['--only', only.join(',')]),
      ...(ignore.length === 0 ? [] : ['--ignore', ignore.join(',')]),
    ];
    await evaluated(['--subject', path, '--inputs', file, '--output', output, ...names, ...(full ? ['--full'] : [])]);
    const lines = readFileSync(output, 'utf8').split('\n').slice(0, -1);
    if (lines.length !== inputs.length)
      throw new Error(`${path} gave ${lines.length} results for ${inputs.length} inputs`);
    return lines;
  };
  return Promise.all([run('base', baseSubject), run('now', subject)]);
}

function evaluated(args: readonly string[]): Promise<void> {
  const script = ['--require', join(ROOT, 'test/pins/register.cjs'), join(ROOT, 'test/pins/evaluate.ts')];
  const child = spawn(process.execPath, [...script, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`evaluate.ts ${args.join(' ')} ended with ${signal ?? code}`)),
    );
  });
}

/** One input with both findings of everything that differs. */
export function reportOf(input: ComparedInput, differences: readonly Difference[]): string {
  const text = Buffer.from(input.bytes, 'base64').toString('utf8');
  return [
    `${input.id} (${input.sourceTool}): ${short(JSON.stringify(text))}`,
    `  metadata ${short(JSON.stringify(input.metadata))}`,
    ...differences.flatMap(({ name, base, now }) => {
      const from = Math.max(0, firstDifference(base, now) - 100);
      return [`  ${name}`, `    base ${short(base.slice(from))}`, `    now  ${short(now.slice(from))}`];
    }),
  ].join('\n');
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

const short = (text: string): string => (text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)} …`);
