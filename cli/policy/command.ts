import type { Command } from 'commander';
import { addAction, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { readInput, writeNewFile } from '../files';
import { listOption, requiredOption, textOption, type Options } from '../options';
import { line, styled, type Printer } from '../printer';
import type { Issue } from '../../policy/bundle/issue';
import { UsageError } from '../usage-error';
import { registerEvaluation } from './evaluation-commands';
import { formatOption } from './format-option';
import { registerRevisions } from './revision-commands';

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

  registerRevisions(policy, cli);
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
    if (neverFired.length > 0) io.err.line(neverFiredLine(neverFired));
    if (unusedWaivers.length > 0) io.err.line(`no test uses these waivers: ${unusedWaivers.join(', ')}`);
    for (const { test, validatorId, stack } of thrown) {
      io.err.line(line`${validatorId} threw in the test "${test}":`);
      io.err.block(stack, '    ');
    }
  }
  return results.every((r) => r.problems.length === 0) ? ExitCode.Ok : ExitCode.Failure;
}

const NAMED_RULES = 5;

function neverFiredLine(ids: readonly string[]): string {
  const named = ids.slice(0, NAMED_RULES).join(', ');
  return ids.length > NAMED_RULES
    ? `no test makes ${ids.length} rules fire, such as ${named}; --format json names all`
    : `no test makes these fire: ${named}`;
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
  if (out !== undefined) writeNewFile(out, bundle);
  if (io.json) io.out.json({ file: out ?? null, bundle, warnings });
  else {
    if (out === undefined) io.out.file(bundle);
    for (const warning of warnings) printIssue(io.err, out ?? 'bundle', 'yellow', warning);
  }
  return ExitCode.Ok;
}
