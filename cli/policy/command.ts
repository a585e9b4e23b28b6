import type { Command } from 'commander';
import { addAction, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { readInput, readInputBytes, writeNewFile } from '../files';
import { nonBlankLines } from '../input-lines';
import { choiceOption, integerOption, isGiven, listOption, requiredOption, textOption, type Options } from '../options';
import { line, styled, type Printer } from '../printer';
import type { Issue } from '../../policy/bundle/issue';
import { UsageError } from '../usage-error';
import { printExplanation } from './explanation-view';

const OUTCOME_EXIT_CODES = { COMMIT: ExitCode.Ok, CONFIRM: ExitCode.Pending, FORBID: ExitCode.Rejected } as const;

/** The policy group: works on files, without a server, except for `publish`, `revoke` and `show`. */
export function register(program: Command, cli: Cli): void {
  const policy = program.command('policy').description('check, test and publish a policy bundle');

  const check = policy
    .command('check')
    .description('whether the bundle compiles: line, column and fix of each issue')
    .argument('<file>', 'the bundle')
    .option('--format <name>', 'text, json or sarif');
  addAction(check, cli, checkBundle);

  const test = policy
    .command('test')
    .description('run the tests of a policy')
    .argument('<bundle>', 'the bundle')
    .argument('<tests>', 'its tests, as YAML')
    .option('--format <name>', 'text, json or junit');
  addAction(test, cli, testBundle);

  registerEvaluation(policy, cli);

  addAction(policy.command('schema').description('the JSON Schema of bundles, for editors'), cli, printSchema);

  const init = policy
    .command('init')
    .description('write a starter bundle, strict enough to be used as it is')
    .option('--tool <name>', 'source tool, e.g. SQLDryRun')
    .option('--hosts <names>', 'for HTTPPatch: hosts that agents may call, separated by commas')
    .option('--out <file>', 'where to write it (default: standard output)');
  addAction(init, cli, writeStarter);

  const publish = policy
    .command('publish')
    .description('sign a bundle and make it the newest revision')
    .argument('<file>', 'the bundle')
    .option('--key <file>', "an operator's key; default: that of the login");
  addAction(publish, cli, publishRevision);

  const revoke = policy
    .command('revoke')
    .description('end the use of a revision for good: its open reviews are rolled back as policy_moved')
    .argument('<revision>', 'its number')
    .option('--reason <text>', 'why; recorded in the evidence')
    .option('--key <file>', "an operator's key");
  addAction(revoke, cli, revokeRevision);

  const show = policy
    .command('show')
    .description('the published revision in force: number, signer, time and plans')
    .option('--bundle', 'print its YAML instead')
    .option('--key <file>', "for a gateway: an operator's key; default: that of the login");
  addAction(show, cli, showRevision);
}

function registerEvaluation(policy: Command, cli: Cli): void {
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

async function checkBundle(io: Io, [file = '']: readonly string[], options: Options): Promise<ExitCode> {
  const format = formatOption(io, options, ['text', 'json', 'sarif']);
  const { checkBundle, extensionsOfEnv } = await import('./bundles.js');
  const extensions = await extensionsOfEnv(io.host.env);
  const { plans, issues, warnings } = checkBundle(await readInput(io, file), extensions, io.host.now());
  if (format === 'json') {
    const summaries = plans.map(({ target, sourceTool, plan, planHash }) => ({
      target,
      sourceTool,
      planHash,
      validators: plan.validators.length,
    }));
    io.out.json({ ok: issues.length === 0, issues, warnings, plans: summaries });
  } else if (format === 'sarif') {
    const { issuesSarif } = await import('../../policy/bundle/reports.js');
    io.out.json(issuesSarif(issues, warnings, file, io.host.version));
  } else {
    for (const issue of issues) printIssue(io.out, file, 'red', issue);
    for (const warning of warnings) printIssue(io.err, file, 'yellow', warning);
    for (const { target, sourceTool, plan, planHash } of issues.length === 0 ? plans : [])
      io.out.line(line`${target}/${sourceTool}  plan ${planHash}  ${plan.validators.length} validators`);
  }
  return issues.length === 0 ? ExitCode.Ok : ExitCode.Failure;
}

function printIssue(printer: Printer, file: string, color: 'red' | 'yellow', issue: Issue): void {
  const path = issue.path === '' ? '' : line` ${styled(color, issue.path)}`;
  printer.line(line`${file}:${issue.line}:${issue.column}${path}: ${issue.message}`);
  printer.block(issue.fix, '    ');
}

async function testBundle(io: Io, [bundle = '', tests = '']: readonly string[], options: Options): Promise<ExitCode> {
  const format = formatOption(io, options, ['text', 'json', 'junit']);
  const { runPolicyTests } = await import('./run-tests.js');
  const report = await runPolicyTests(io.host.env, await readInput(io, bundle), await readInput(io, tests));
  const { results, covered, neverFired, unusedWaivers, thrown } = report;
  if (format === 'json') io.out.json(report);
  else if (format === 'junit') {
    const { testsJunit } = await import('../../policy/bundle/reports.js');
    io.out.file(`${testsJunit(tests, results)}\n`);
  } else {
    for (const { name, problems } of results) {
      io.out.line(line`${problems.length === 0 ? styled('green', 'ok  ') : styled('red', 'FAIL')} ${name}`);
      for (const problem of problems) io.out.block(problem, '     ');
    }
    io.out.line(`tests make ${covered.length} of ${covered.length + neverFired.length} rules fire`);
    if (neverFired.length > 0) io.err.line(`no test makes these fire: ${neverFired.join(', ')}`);
    if (unusedWaivers.length > 0) io.err.line(`no test uses these waivers: ${unusedWaivers.join(', ')}`);
    for (const { test, validatorId, stack } of thrown) {
      io.err.line(line`${validatorId} threw in the test "${test}":`);
      io.err.block(stack, '    ');
    }
  }
  return results.every((r) => r.problems.length === 0) ? ExitCode.Ok : ExitCode.Failure;
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
  else {
    const { printBacktest } = await import('./backtest-view.js');
    printBacktest(io, result);
  }
  return ExitCode.Ok;
}

async function printSchema(io: Io): Promise<ExitCode> {
  const { jsonSchema } = await import('../../policy/bundle/json-schema.js');
  io.out.json(jsonSchema());
  return ExitCode.Ok;
}

async function writeStarter(io: Io, _args: readonly string[], options: Options): Promise<ExitCode> {
  const { starterBundle } = await import('../../source-tools/starter-bundle.js');
  const tool = requiredOption(options, '--tool');
  const hosts = listOption(options, '--hosts');
  if (hosts !== undefined && tool !== 'HTTPPatch') throw new UsageError('--hosts: only HTTPPatch has hosts');
  const out = textOption(options, '--out');
  const { checkBundle, extensionsOfEnv } = await import('./bundles.js');
  const extensions = await extensionsOfEnv(io.host.env);
  const mode = extensions.sourceTools.get(tool)?.mode;
  const bundle = starterBundle(tool, {
    ...(hosts === undefined ? {} : { hosts }),
    ...(mode === undefined ? {} : { cooperative: mode === 'cooperative' }),
  });
  // Not refused: the module that registers a source tool may still have to be written.
  const { issues: warnings } = checkBundle(bundle, extensions, io.host.now());
  if (out !== undefined) await writeNewFile(out, bundle);
  if (io.json) io.out.json({ file: out ?? null, bundle, warnings });
  else {
    if (out === undefined) io.out.file(bundle);
    for (const warning of warnings) printIssue(io.err, out ?? 'bundle', 'yellow', warning);
  }
  return ExitCode.Ok;
}

async function publishRevision(io: Io, [file = '']: readonly string[], options: Options): Promise<ExitCode> {
  const bundle = await readInput(io, file);
  const { publish } = await io.host.remote.policy();
  const { revision, published } = await publish(io.host.env, bundle, textOption(options, '--key'), io.host.now());
  if (io.json) io.out.json({ revision, published });
  else io.out.line(line`revision ${revision} ${published ? 'published' : 'is already published'}`);
  return ExitCode.Ok;
}

async function revokeRevision(io: Io, [given = '']: readonly string[], options: Options): Promise<ExitCode> {
  const revision = Number(given);
  if (!/^[1-9][0-9]{0,9}$/.test(given))
    throw new UsageError(`revision: expected its number, such as 3, got "${given}"`);
  const reason = requiredOption(options, '--reason');
  if (reason.length > 500) throw new UsageError(`--reason: expected at most 500 characters, got ${reason.length}`);
  const key = requiredOption(options, '--key');
  const { revoke } = await io.host.remote.policy();
  const { revoked, inForce } = await revoke(io.host.env, { revision, reason }, key);
  if (io.json) io.out.json({ revision, revoked, inForce });
  else {
    io.out.line(line`revision ${revision} ${revoked ? 'revoked' : 'is already revoked'}`);
    io.out.line(inForce === null ? 'no revision is in force: publish one' : line`revision ${inForce} is in force`);
  }
  return ExitCode.Ok;
}

async function showRevision(io: Io, _args: readonly string[], options: Options): Promise<ExitCode> {
  const { newestPublished } = await io.host.remote.policy();
  const { revision, bundleText } = await newestPublished(io.host.env, textOption(options, '--key'));
  if (io.json) io.out.json({ ...revision, bundleText });
  else if (isGiven(options, '--bundle')) io.out.file(bundleText);
  else {
    const { revision: number, bundleSha, plans, keyId, issuedAt } = revision;
    io.out.line(line`${styled('bold', `revision ${number}`)}  ${issuedAt}  signed by ${keyId}`);
    io.out.line(line`bundle ${bundleSha}`);
    for (const { target, sourceTool, planHash } of plans) io.out.line(line`${target}/${sourceTool}  plan ${planHash}`);
  }
  return ExitCode.Ok;
}

/** The first of `names` unless --format or --json says otherwise. */
function formatOption<Name extends string>(io: Io, options: Options, names: readonly Name[]): Name | 'json' {
  const name = choiceOption(options, '--format', names);
  if (name === undefined) return io.json ? 'json' : (names[0] as Name);
  if (io.json && name !== 'json') throw new UsageError('--json and --format cannot be combined');
  return name;
}

function roundToMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
