import type { Command } from 'commander';
import { addAction, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { readInput } from '../files';
import { nonBlankLines } from '../input-lines';
import { integerOption, requiredOption, textOption, type Options } from '../options';

const PARSE_HELP = `how the judge's raw answers are parsed, one JSON object per line; no server

  in   {"id": "a", "raw": "…", "policyIds": ["no_drop"], "canary": "9f2c",
        "lines": 12}
  out  {"id": "a", "status": "ALLOW", "reasonCode": "judge_allow"}

policyIds, canary and lines (how many were shown) are checked if given. Text
beside this object makes it BLOCK, judge_verdict_parse, with a "cause":

  {"observations": [{"line": 1, "effect": "adds a column"}],
   "policyResults": [{"policyId": "no_drop", "result": "clear",
       "severity": "WARN", "lines": [], "quote": "", "why": ""}],
   "instructionsInDiff": false, "canary": "9f2c",
   "verdict": "ALLOW", "confidence": "high"}`;

const EVAL_HELP = `recall, false alarms, cost and latency of a model on 200 built-in changes or a
labelled set, with 95 % intervals; not a prediction for another set or version

  {"id": "1", "sourceTool": "SQLDryRun", "raw": "DELETE …", "label": "BLOCK"}

Asks about each case once, as a review would. The key is OPENAI_API_KEY, the
prices are in COUNTERSIGN_JUDGE_PRICES_FILE. Signs and stores nothing.`;

export function register(program: Command, cli: Cli): void {
  const judge = program.command('judge').description('parse raw answers; measure a judge on a labelled set');

  const parse = judge
    .command('parse')
    .summary('how raw answers are parsed, one JSON object per line')
    .description(PARSE_HELP)
    .argument('[file]', 'JSON lines (default: standard input)')
    .option('--jsonl', 'one line in, one line out (the only format)');
  addAction(parse, cli, parseAnswers);

  const evaluate = judge
    .command('eval')
    .summary('recall, false alarms, cost and latency of a model on a labelled set')
    .description(EVAL_HELP)
    .argument('[file]', 'JSON lines {id, sourceTool, raw|rawBase64, metadata?, label}')
    .option('--policy <file>', "a bundle, whose judge's settings and rubric are used")
    .option('--target <name>', 'which target; required if the bundle has several')
    .option('--model <name>', "the model to ask (default: the bundle's)")
    .option('--base-url <url>', 'the server (default: OPENAI_BASE_URL, or OpenAI)')
    .option('--at-once <n>', 'concurrent cases (default 4)');
  addAction(evaluate, cli, evaluateModel);
}

async function parseAnswers(io: Io, [file]: readonly string[]): Promise<ExitCode> {
  const { parseJudgeText } = await import('../../policy/judge/parse-line.js');
  const rows = nonBlankLines(await readInput(io, file));
  let unreadable = 0;
  for (const { text, number } of rows) {
    const parsed = parseJudgeText(text, number);
    if ('error' in parsed) unreadable++;
    io.out.json(parsed);
  }
  if (unreadable > 0) io.err.line(`${unreadable} of ${rows.length} lines contain no raw answer: see "error"`);
  return ExitCode.Ok;
}

async function evaluateModel(io: Io, [file]: readonly string[], options: Options): Promise<ExitCode> {
  const bundle = textOption(options, '--policy');
  const settings = {
    model: bundle === undefined ? requiredOption(options, '--model') : (textOption(options, '--model') ?? null),
    baseUrl: textOption(options, '--base-url') ?? null,
    concurrency: integerOption(options, '--at-once', { min: 1, max: 64, default: 4 }),
    bundle: bundle === undefined ? null : await readInput(io, bundle),
    target: textOption(options, '--target') ?? null,
  };
  const rows = file === undefined ? null : nonBlankLines(await readInput(io, file));
  const { evaluateModelOn } = await io.host.remote.judge();
  const { report, text, answered } = await evaluateModelOn(io.host.env, rows, settings, (done, total) => {
    if (done % 10 === 0 || done === total) io.err.line(`${done} of ${total} cases`);
  });
  if (io.json) io.out.json(report);
  else io.out.block(text, '');
  if (answered > 0) return ExitCode.Ok;
  io.err.line('the judge answered no case: these figures say nothing about the model');
  return ExitCode.Failure;
}
