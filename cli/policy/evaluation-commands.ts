import type { Command } from 'commander';
import { addAction, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { readInput, readInputBytes } from '../files';
import { nonBlankLines } from '../input-lines';
import { integerOption, isGiven, requiredOption, textOption, type Options } from '../options';
import { line, styled } from '../printer';
import { UsageError } from '../usage-error';
import type { Backtest } from './backtest';
import { printExplanation } from './explanation-view';
import { formatOption } from './format-option';

const COSTLIEST_RULES = 10;
const OUTCOME_EXIT_CODES = { COMMIT: ExitCode.Ok, CONFIRM: ExitCode.Pending, FORBID: ExitCode.Rejected } as const;

/** The commands that evaluate changes, without a server. */
export function registerEvaluation(policy: Command, cli: Cli): void {
  const target = ['--target <name>', 'which target; required if the bundle has several'] as const;

  const evaluate = policy
    .command('eval')
    .description('the findings of diffs, one JSON object per line; exits 1 after the last line if one is invalid')
    .argument('[file]', 'JSON lines {id, sourceTool, raw or rawBase64, metadata?, staging?} (default: standard input)')
    .option('--policy <file>', 'the bundle')
    .option(...target)
    .option('--jsonl', 'one line in, one line out (the only format)');
  addAction(evaluate, cli, evaluateLines);

  const explain = policy
    .command('explain')
    .description('why a diff gets its findings; exits 0, 8 (a human must confirm) or 10')
    .argument('<bundle>', 'the bundle')
    .argument('[diff]', 'the diff (default: standard input)')
    .option(...target)
    .option('--tool <name>', 'source tool; required if the target takes several')
    .option('--metadata <json>', 'what the agent claims')
    .option('--staging <file>', 'the record of a dry run, as JSON')
    .option('--at <time>', 'apply waivers as of this time instead of now')
    .option('--format <name>', 'text, json or sarif');
  addAction(explain, cli, explainOne);

  const bench = policy
    .command('bench')
    .description('what the policy costs on diffs: milliseconds for each, and how many a second')
    .argument('<bundle>', 'the bundle')
    .argument('[file]', 'JSON lines as for eval (default: standard input)')
    .option(...target)
    .option('--repeat <n>', 'how often the lines are run (default 20)');
  addAction(bench, cli, benchmark);

  const history = policy
    .command('backtest')
    .description('how many of the last commits of a git repository the policy would hold, and which rules cost most')
    .option('--git <dir>', 'the repository')
    .option('--policy <file>', 'a bundle that accepts GitPatch')
    .option(...target)
    .option('--last <n>', 'how many commits (default 400)')
    .option('--revision <rev>', 'the newest commit (default HEAD)')
    .option('--bots', 'include commits whose author is a bot');
  addAction(history, cli, backtestHistory);
}

async function evaluateLines(io: Io, [file]: readonly string[], options: Options): Promise<ExitCode> {
  const bundle = await readInput(io, requiredOption(options, '--policy'));
  const { lineEvaluator } = await import('./evaluate.js');
  const evaluate = await lineEvaluator(io.host.env, bundle, textOption(options, '--target') ?? null);
  let exitCode: ExitCode = ExitCode.Ok;
  for (const { text, number } of nonBlankLines(await readInput(io, file))) {
    const result = await evaluate(text, number);
    if ('error' in result) exitCode = ExitCode.Failure;
    io.out.json(result);
  }
  return exitCode;
}

async function explainOne(io: Io, [bundle = '', diff]: readonly string[], options: Options): Promise<ExitCode> {
  const format = formatOption(io, options, ['text', 'json', 'sarif']);
  const staging = textOption(options, '--staging');
  const at = textOption(options, '--at') ?? io.host.now().toISOString();
  if (Number.isNaN(Date.parse(at)))
    throw new UsageError(`--at: expected a time such as 2027-01-31T00:00:00Z, got "${at}"`);
  const { explainDiff } = await import('./evaluate.js');
  const explanation = await explainDiff(io.host.env, await readInput(io, bundle), await readInputBytes(io, diff), {
    target: textOption(options, '--target') ?? null,
    sourceTool: textOption(options, '--tool') ?? null,
    metadata: textOption(options, '--metadata') ?? null,
    staging: staging === undefined ? null : await readInput(io, staging),
    at,
  });
  if (format === 'json') io.out.json(explanation);
  else if (format === 'sarif') {
    const { explanationSarif } = await import('../../policy/bundle/reports.js');
    io.out.json(explanationSarif(explanation, diff ?? 'stdin', io.host.version));
  } else printExplanation(io, explanation);
  return OUTCOME_EXIT_CODES[explanation.outcome];
}

async function benchmark(io: Io, [bundle = '', file]: readonly string[], options: Options): Promise<ExitCode> {
  const repeat = integerOption(options, '--repeat', { min: 1, max: 100_000, default: 20 });
  const { lineEvaluator } = await import('./evaluate.js');
  const target = textOption(options, '--target') ?? null;
  const evaluate = await lineEvaluator(io.host.env, await readInput(io, bundle), target);
  const rows = nonBlankLines(await readInput(io, file));
  if (rows.length === 0) throw new UsageError('the input has no lines');
  const results = await Promise.all(rows.map((row) => evaluate(row.text, row.number)));
  const failed = results.find((result) => 'error' in result);
  if (failed !== undefined) throw new UsageError(`a line cannot be evaluated: ${JSON.stringify(failed).slice(0, 300)}`);
  const times: number[] = [];
  const began = performance.now();
  for (let i = 0; i < repeat; i++)
    for (const row of rows) {
      const start = performance.now();
      await evaluate(row.text, row.number);
      times.push(performance.now() - start);
    }
  const perSecond = Math.round((times.length / (performance.now() - began)) * 1000);
  times.sort((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((q) => roundToMicroseconds(times[Math.floor(q * (times.length - 1))] ?? 0));
  if (io.json) io.out.json({ diffs: rows.length, runs: times.length, perSecond, p50Ms: p50, p99Ms: p99 });
  else io.out.line(`${times.length} runs of ${rows.length} diffs: p50 ${p50} ms, p99 ${p99} ms, ${perSecond} a second`);
  return ExitCode.Ok;
}

async function backtestHistory(io: Io, _args: readonly string[], options: Options): Promise<ExitCode> {
  const bundle = await readInput(io, requiredOption(options, '--policy'));
  const { backtest } = await import('./backtest.js');
  const result = await backtest(io.host.env, bundle, {
    git: requiredOption(options, '--git'),
    target: textOption(options, '--target') ?? null,
    last: integerOption(options, '--last', { min: 1, max: 100_000, default: 400 }),
    revision: textOption(options, '--revision') ?? 'HEAD',
    bots: isGiven(options, '--bots'),
  });
  if (io.json) io.out.json(result);
  else printBacktest(io, result);
  return ExitCode.Ok;
}

/** Prints how many commits are held and the ten costliest rules. */
function printBacktest(io: Io, { commits, held, forbidden, rules, notEvaluated }: Backtest): void {
  const { out, err } = io;
  out.line(
    line`${styled('bold', `${held} of ${commits} commits held`)} (${percent(held, commits)}), ${forbidden} forbidden`,
  );
  const width = Math.max(0, ...rules.map(({ rule }) => rule.length));
  for (const { rule, commits: count, alone } of rules.slice(0, COSTLIEST_RULES))
    out.line(line`  ${rule.padEnd(width)}  holds ${count} (${percent(count, commits)}), alone ${alone}`);
  if (rules.length > COSTLIEST_RULES) out.line(`  and ${rules.length - COSTLIEST_RULES} other rules; see --json`);
  if (notEvaluated.length > 0)
    err.line(
      line`${notEvaluated.length} commits were not evaluated, the first because ${notEvaluated[0]?.reason ?? ''}`,
    );
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '0 %' : `${Math.round((part / whole) * 1000) / 10} %`;
}

function roundToMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
