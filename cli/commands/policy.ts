import type { Command } from 'commander';
import { explanationSarif, issuesSarif, testsJunit } from '../../policy/bundle/reports';
import { required, runs, text, whole, type Cli, type Io, type Options } from '../command';
import { ExitCode } from '../exit-codes';
import { printExplanation } from '../explanation-view';
import { readBytes, readInput, toLines } from '../jsonl';
import { line, styled } from '../printer';
import { UsageError } from '../usage-error';

const EXIT_OF_OUTCOME = { COMMIT: ExitCode.Ok, CONFIRM: ExitCode.Pending, FORBID: ExitCode.Rejected } as const;

function formatOf<Name extends string>(io: Io, options: Options, names: readonly Name[]): Name | 'json' {
  const given = text(options, 'format');
  if (given === undefined) return io.json ? 'json' : (names[0] as Name);
  const name = names.find((n) => n === given);
  if (name === undefined) throw new UsageError(`--format: expected ${names.join(', ')}, got "${given}"`);
  if (io.json && name !== 'json') throw new UsageError('--json and --format: name one of the two');
  return name;
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

export function register(program: Command, cli: Cli): void {
  const policy = program.command('policy').description('check, test and publish a policy bundle');

  const check = policy
    .command('check')
    .description('whether the bundle compiles: line, column and fix of each issue')
    .argument('<file>', 'the bundle')
    .option('--format <name>', 'text, json or sarif');
  runs(check, cli, async (io, [file = ''], options) => {
    const format = formatOf(io, options, ['text', 'json', 'sarif']);
    const { issues, plans } = await (await io.deps.policy()).check(await readInput(io, file));
    if (format === 'json') io.out.json({ ok: issues.length === 0, issues, plans });
    if (format === 'sarif') io.out.json(issuesSarif(issues, file, io.deps.version));
    for (const issue of format === 'text' ? issues : []) {
      io.out.line(line`${file}:${issue.line}:${issue.column} ${styled('red', issue.path)}: ${issue.message}`);
      io.out.block(issue.fix, '    ');
    }
    for (const plan of format === 'text' ? plans : [])
      io.out.line(line`${plan.target}/${plan.sourceTool}  plan ${plan.planHash}  ${plan.validators} validators`);
    return issues.length === 0 ? ExitCode.Ok : ExitCode.Failure;
  });

  const test = policy
    .command('test')
    .description('run the tests of a policy')
    .argument('<bundle>', 'the bundle')
    .argument('<tests>', 'its tests, as YAML')
    .option('--format <name>', 'text, json or junit');
  runs(test, cli, async (io, [bundle = '', tests = ''], options) => {
    const format = formatOf(io, options, ['text', 'json', 'junit']);
    const ran = await (await io.deps.policy()).test(await readInput(io, bundle), await readInput(io, tests));
    if (format === 'json') io.out.json(ran);
    if (format === 'junit') io.out.block(testsJunit(tests, ran.results), '');
    for (const { name, problems } of format === 'text' ? ran.results : []) {
      io.out.line(line`${problems.length === 0 ? styled('green', 'ok  ') : styled('red', 'FAIL')} ${name}`);
      for (const problem of problems) io.out.block(problem, '     ');
    }
    const { covered, neverFired } = ran;
    if (format === 'text')
      io.out.line(`tests make ${covered.length} of ${covered.length + neverFired.length} rules fire`);
    if (format === 'text' && neverFired.length > 0) io.err.line(`no test makes these fire: ${neverFired.join(', ')}`);
    return ran.results.every((r) => r.problems.length === 0) ? ExitCode.Ok : ExitCode.Failure;
  });

  const evaluate = policy
    .command('eval')
    .description('what the policy says of diffs, one JSON object a line; no server')
    .argument(
      '[file]',
      'JSON lines {id, sourceTool, raw or rawBase64, metadata?, staging?}; standard input unless given',
    )
    .option('--policy <file>', 'the bundle')
    .option('--target <name>', 'which target; needed where the bundle has several')
    .option('--jsonl', 'one line in, one line out (the only form)');
  runs(evaluate, cli, async (io, [file], options) => {
    const bundle = await readInput(io, required(options, 'policy', '--policy'));
    const answer = await (await io.deps.policy()).evaluator(bundle, text(options, 'target') ?? null);
    for (const row of toLines(await readInput(io, file))) io.out.json(await answer(row.text, row.number));
    return ExitCode.Ok;
  });

  const explain = policy
    .command('explain')
    .description('why a diff gets its findings; exits 0, 8 (a human must confirm) or 10')
    .argument('<bundle>', 'the bundle')
    .argument('[diff]', 'the diff; standard input unless given')
    .option('--target <name>', 'which target; needed where the bundle has several')
    .option('--tool <name>', 'source tool; needed where the target takes several')
    .option('--metadata <json>', 'what the agent claims')
    .option('--staging <file>', 'the record of a dry run, as JSON')
    .option('--at <time>', 'hold waivers against this time instead of now')
    .option('--format <name>', 'text, json or sarif');
  runs(explain, cli, async (io, [bundle = '', diff], options) => {
    const format = formatOf(io, options, ['text', 'json', 'sarif']);
    const staging = text(options, 'staging');
    const at = text(options, 'at') ?? io.deps.now().toISOString();
    if (Number.isNaN(Date.parse(at)))
      throw new UsageError(`--at: expected a time such as 2027-01-31T00:00:00Z, got "${at}"`);
    const tools = await io.deps.policy();
    const explanation = await tools.explain(await readInput(io, bundle), await readBytes(io, diff), {
      target: text(options, 'target') ?? null,
      sourceTool: text(options, 'tool') ?? null,
      metadata: text(options, 'metadata') ?? null,
      staging: staging === undefined ? null : await readInput(io, staging),
      at,
    });
    if (format === 'json') io.out.json(explanation);
    else if (format === 'sarif') io.out.json(explanationSarif(explanation, diff ?? 'stdin', io.deps.version));
    else printExplanation(io, explanation);
    return EXIT_OF_OUTCOME[explanation.outcome];
  });

  const bench = policy
    .command('bench')
    .description('what the policy costs on diffs: milliseconds for each, and how many a second')
    .argument('<bundle>', 'the bundle')
    .argument('[file]', 'JSON lines as for eval; standard input unless given')
    .option('--target <name>', 'which target; needed where the bundle has several')
    .option('--repeat <n>', 'how often the lines are run, 20 unless given');
  runs(bench, cli, async (io, [bundle = '', file], options) => {
    const repeat = whole(options, 'repeat', '--repeat', { min: 1, max: 100_000, otherwise: 20 });
    const answer = await (
      await io.deps.policy()
    ).evaluator(await readInput(io, bundle), text(options, 'target') ?? null);
    const rows = toLines(await readInput(io, file));
    if (rows.length === 0) throw new UsageError('there is no line to run');
    const bad = (await Promise.all(rows.map((row) => answer(row.text, row.number)))).find((said) => 'error' in said);
    if (bad !== undefined) throw new UsageError(`a line cannot be evaluated: ${JSON.stringify(bad).slice(0, 300)}`);
    const times: number[] = [];
    const began = performance.now();
    for (let i = 0; i < repeat; i++)
      for (const row of rows) {
        const at = performance.now();
        await answer(row.text, row.number);
        times.push(performance.now() - at);
      }
    const perSecond = Math.round((times.length / (performance.now() - began)) * 1000);
    times.sort((a, b) => a - b);
    const [p50, p99] = [0.5, 0.99].map((q) => rounded(times[Math.floor(q * (times.length - 1))] ?? 0));
    if (io.json) io.out.json({ diffs: rows.length, runs: times.length, perSecond, p50Ms: p50, p99Ms: p99 });
    else
      io.out.line(`${times.length} runs of ${rows.length} diffs: p50 ${p50} ms, p99 ${p99} ms, ${perSecond} a second`);
    return ExitCode.Ok;
  });

  const schema = policy.command('schema').description('the JSON Schema of bundles, for editors');
  runs(schema, cli, async (io) => {
    io.out.json((await io.deps.policy()).schema());
    return ExitCode.Ok;
  });

  const init = policy
    .command('init')
    .description('write a starter bundle, strict enough to be used as it is')
    .option('--tool <name>', 'source tool, e.g. SQLDryRun')
    .option('--out <file>', 'where to write it; standard output unless given');
  runs(init, cli, async (io, _args, options) => {
    const bundle = (await io.deps.policy()).starter(required(options, 'tool', '--tool'));
    const out = text(options, 'out');
    if (out !== undefined) await io.deps.writeNewFile(out, bundle);
    if (io.json) io.out.json({ file: out ?? null, bundle });
    else if (out === undefined) io.out.block(bundle, '');
    return ExitCode.Ok;
  });

  const publish = policy
    .command('publish')
    .description('sign a bundle and make it the newest revision')
    .argument('<file>', 'the bundle')
    .option('--key <file>', "an operator's key");
  runs(publish, cli, async (io, [file = ''], options) => {
    const done = await (await io.deps.policy()).publish(await readInput(io, file), required(options, 'key', '--key'));
    if (io.json) io.out.json(done);
    else io.out.line(line`revision ${done.revision} ${done.published ? 'published' : 'stands already'}`);
    return ExitCode.Ok;
  });
}
