import type { Command } from 'commander';
import { required, runs, text, type Cli } from '../command';
import { ExitCode } from '../exit-codes';
import { readInput, toLines } from '../jsonl';
import { line, styled } from '../printer';

export function register(program: Command, cli: Cli): void {
  const policy = program.command('policy').description('check, test and publish a policy bundle');

  const check = policy
    .command('check')
    .description('whether the bundle compiles: line, column and fix of each issue')
    .argument('<file>', 'the bundle');
  runs(check, cli, async (io, [file = '']) => {
    const { issues, plans } = await (await io.deps.policy()).check(await readInput(io, file));
    if (io.json) io.out.json({ ok: issues.length === 0, issues, plans });
    for (const issue of io.json ? [] : issues) {
      io.out.line(line`${file}:${issue.line}:${issue.column} ${styled('red', issue.path)}: ${issue.message}`);
      io.out.block(issue.fix, '    ');
    }
    for (const plan of io.json ? [] : plans)
      io.out.line(line`${plan.target}/${plan.sourceTool}  plan ${plan.planHash}  ${plan.validators} validators`);
    return issues.length === 0 ? ExitCode.Ok : ExitCode.Failure;
  });

  const test = policy
    .command('test')
    .description('run the tests of a policy')
    .argument('<bundle>', 'the bundle')
    .argument('<tests>', 'its tests, as YAML');
  runs(test, cli, async (io, [bundle = '', tests = '']) => {
    const ran = await (await io.deps.policy()).test(await readInput(io, bundle), await readInput(io, tests));
    if (io.json) io.out.json(ran);
    for (const { name, problems } of io.json ? [] : ran.results) {
      io.out.line(line`${problems.length === 0 ? styled('green', 'ok  ') : styled('red', 'FAIL')} ${name}`);
      for (const problem of problems) io.out.block(problem, '     ');
    }
    if (!io.json && ran.neverFired.length > 0) io.err.line(`no test makes these fire: ${ran.neverFired.join(', ')}`);
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
