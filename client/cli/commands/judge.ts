import type { Command } from 'commander';
import { required, runs, text, whole, type Cli, type Io } from '../command';
import { ExitCode } from '../exit-codes';
import { readInput, toLines } from '../jsonl';

export function register(program: Command, cli: Cli): void {
  const judge = program.command('judge').description('read raw answers; measure a judge on a labelled set');

  const parse = judge
    .command('parse')
    .description('how the gate reads raw answers, one JSON object a line')
    .argument('[file]', 'JSON lines {id, raw, policyIds?, canary?}; standard input unless given')
    .option('--jsonl', 'one line in, one line out (the only form)');
  runs(parse, cli, async (io, [file]) => {
    const { parseJudgeText } = await io.deps.judge();
    for (const { text: row, number } of toLines(await readInput(io, file))) io.out.json(parseJudgeText(row, number));
    return ExitCode.Ok;
  });

  const evaluate = judge
    .command('eval')
    .description('precision, recall, calibration and cost on a labelled set; never a promise')
    .argument('<file>', 'JSON lines {id, sourceTool, raw or rawBase64, metadata?, label}')
    .option('--model <name>', 'the model to ask')
    .option('--base-url <url>', 'an OpenAI-compatible server')
    .option('--at-once <n>', 'cases asked about at one time');
  runs(evaluate, cli, async (io, [file = ''], options) =>
    evaluated(io, file, {
      model: required(options, 'model', '--model'),
      baseUrl: text(options, 'baseUrl') ?? null,
      atOnce: whole(options, 'atOnce', '--at-once', { min: 1, max: 64, otherwise: 4 }),
    }),
  );
}

async function evaluated(
  io: Io,
  file: string,
  options: { readonly model: string; readonly baseUrl: string | null; readonly atOnce: number },
): Promise<ExitCode> {
  const rows = toLines(await readInput(io, file)).map(({ text: row }) => row);
  const judge = await io.deps.judge();
  const { report, text: shown } = await judge.evaluate(rows, options, (done, of) => {
    if (done % 10 === 0 || done === of) io.err.line(`${done} of ${of} cases`);
  });
  if (io.json) io.out.json(report);
  else io.out.block(shown, '');
  return ExitCode.Ok;
}
