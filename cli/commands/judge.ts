import type { Command } from 'commander';
import type { JudgeEvalOptions } from '../deps';
import { required, runs, text, whole, type Cli, type Io } from '../command';
import { ExitCode } from '../exit-codes';
import { readInput, toLines } from '../jsonl';

const PARSE = `how the gate reads raw answers, one JSON object a line; no server

  in   {"id": "a", "raw": "…", "policyIds": ["no_drop"], "canary": "9f2c"}
  out  {"id": "a", "status": "ALLOW", "reasonCode": "judge_allow"}

policyIds and canary are checked where given; "unchecked" names what was not.
Unreadable is BLOCK, judge_verdict_parse; "cause" and "message" say why, where.
Abstention is WARN, judge_abstain. What is asked for; no member more, none less:

  {"observations": [{"line": 1, "effect": "adds a column"}],
   "policyResults": [{"policyId": "no_drop", "result": "clear",
       "severity": "WARN", "lines": [], "quote": "", "why": ""}],
   "instructionsInDiff": false, "canary": "9f2c",
   "verdict": "ALLOW", "confidence": "high"}`;

const EVAL = `precision, recall, calibration and cost of a model on a labelled set, with 95 %
confidence intervals; never a promise for another set, version or day

  {"id": "1", "sourceTool": "SQLDryRun", "raw": "DELETE …", "label": "BLOCK"}

Asks about each case once, as the gate would. The key is OPENAI_API_KEY, the
prices are in COUNTERSIGN_JUDGE_PRICES_FILE. Signs nothing, and writes nothing.`;

export function register(program: Command, cli: Cli): void {
  const judge = program.command('judge').description('read raw answers; measure a judge on a labelled set');

  const parse = judge
    .command('parse')
    .summary('how the gate reads raw answers, one JSON object a line')
    .description(PARSE)
    .argument('[file]', 'JSON lines; standard input unless given')
    .option('--jsonl', 'one line in, one line out (the only form)');
  runs(parse, cli, async (io, [file]) => {
    const { parseJudgeText } = await io.deps.judge();
    const rows = toLines(await readInput(io, file));
    let unread = 0;
    for (const { text: row, number } of rows) {
      const read = parseJudgeText(row, number);
      if ('error' in read) unread++;
      io.out.json(read);
    }
    if (unread > 0) io.err.line(`${unread} of ${rows.length} lines hold no raw answer: see "error"`);
    return ExitCode.Ok;
  });

  const evaluate = judge
    .command('eval')
    .summary('precision, recall, calibration and cost on a labelled set; never a promise')
    .description(EVAL)
    .argument('<file>', 'JSON lines {id, sourceTool, raw|rawBase64, metadata?, label}')
    .option('--policy <file>', "a bundle, whose judge's settings and rubric are used")
    .option('--target <name>', 'which target; needed where the bundle has several')
    .option('--model <name>', "the model to ask; the bundle's unless given")
    .option('--base-url <url>', 'the server; OPENAI_BASE_URL or OpenAI unless given')
    .option('--at-once <n>', 'cases asked about at one time, 4 unless given');
  runs(evaluate, cli, async (io, [file = ''], options) => {
    const bundle = text(options, 'policy');
    return evaluated(io, file, {
      model: bundle === undefined ? required(options, 'model', '--model') : (text(options, 'model') ?? null),
      baseUrl: text(options, 'baseUrl') ?? null,
      atOnce: whole(options, 'atOnce', '--at-once', { min: 1, max: 64, otherwise: 4 }),
      bundle: bundle === undefined ? null : await readInput(io, bundle),
      target: text(options, 'target') ?? null,
    });
  });
}

async function evaluated(io: Io, file: string, options: JudgeEvalOptions): Promise<ExitCode> {
  const rows = toLines(await readInput(io, file));
  const judge = await io.deps.judge();
  const {
    report,
    text: shown,
    answered,
  } = await judge.evaluate(rows, options, (done, of) => {
    if (done % 10 === 0 || done === of) io.err.line(`${done} of ${of} cases`);
  });
  if (io.json) io.out.json(report);
  else io.out.block(shown, '');
  if (answered > 0) return ExitCode.Ok;
  io.err.line('the judge answered no case: these figures say nothing about the model');
  return ExitCode.Failure;
}
