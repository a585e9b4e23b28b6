import type { Command } from 'commander';
import type { EvidenceReport, EvidenceTrust } from '../../signing/verify-evidence';
import type { ReplayReport } from '../../policy/evidence/reports';
import { runs, required, text, type Cli, type Io, type Options } from '../command';
import { messageOf } from '../../client/errors';
import { ExitCode } from '../exit-codes';
import { line, styled } from '../printer';
import { UsageError } from '../usage-error';

const MAX_FILE = 64 * 1024 * 1024;
const MAX_TRUST = 1024 * 1024;
const CHANGE_ID = /^[0-9a-f]{64}$/;
const PROGRESS_MS = 5_000;

export function register(program: Command, cli: Cli): void {
  const exports = program
    .command('export')
    .description('write one review as evidence: a file that proves itself')
    .argument('<id>', 'the change id')
    .option('--bytes', 'with the diff itself, so that findings can be replayed')
    .option('--out <file>', 'where to (default: standard output)');
  runs(exports, cli, exportOne);

  const verify = program
    .command('verify')
    .description('check evidence: no server, no network')
    .argument('<file>', 'what export wrote')
    .option('--trust <file>', '{"operators": [public keys], "committers": [...]}');
  runs(verify, cli, verifyOne);

  const replay = program
    .command('replay')
    .description('compute findings again, compare byte for byte')
    .argument('<id-or-file>', 'a change id, or what export wrote');
  runs(replay, cli, replayOne);

  // `ledger` itself is registered beside the commands that read it.
  const ledger = program.commands.find((command) => command.name() === 'ledger') ?? program.command('ledger');
  const check = ledger
    .command('verify')
    .description('check chains and checkpoints, of one review or of all')
    .argument('[id]', 'the change id');
  runs(check, cli, verifyLedger);
}

async function exportOne(io: Io, [id = '']: readonly string[], options: Options): Promise<ExitCode> {
  assertChangeId(id);
  const out = text(options, 'out');
  if (out === undefined && io.deps.stdout.isTTY === true)
    throw new UsageError('--out is missing: evidence is for a file, not for a terminal');
  const tools = await io.deps.evidence();
  const bundle = await tools.export(id, { bytes: options['bytes'] === true }, io.err.line);
  if (out === undefined) {
    // As it is, to the byte: escaped for a terminal it would be another file.
    io.deps.stdout.write(bundle);
    return ExitCode.Ok;
  }
  await io.deps.writeFile(out, bundle);
  if (io.json) io.out.json({ changeId: id, file: out, bytes: Buffer.byteLength(bundle) });
  else io.out.line(line`${out}  ${Buffer.byteLength(bundle)} bytes`);
  return ExitCode.Ok;
}

async function verifyOne(io: Io, [file = '']: readonly string[], options: Options): Promise<ExitCode> {
  const trustFile = required(options, 'trust', '--trust');
  // Loaded here: signatures are no part of another command's start.
  const { verifyEvidence } = require('../../signing/verify-evidence') as typeof import('../../signing/verify-evidence');
  const { parseTrust } = require('../../signing/evidence/trust') as typeof import('../../signing/evidence/trust');
  const trust = trustIn(trustFile, new TextDecoder().decode(await io.deps.readFile(trustFile, MAX_TRUST)), parseTrust);
  const report = verifyEvidence(await io.deps.readFile(file, MAX_FILE), trust);
  return printVerified(io, report);
}

function trustIn(file: string, content: string, parse: (text: string) => EvidenceTrust): EvidenceTrust {
  try {
    return parse(content);
  } catch (error) {
    throw new UsageError(`--trust ${file}: ${messageOf(error)}`);
  }
}

function printVerified(io: Io, report: EvidenceReport): ExitCode {
  if (io.json) io.out.json(report);
  else {
    for (const { name, ok, detail } of report.checks)
      io.out.line(line`${ok ? styled('green', 'ok  ') : styled('red', 'FAIL')} ${name.padEnd(10)}  ${detail}`);
    const { outcome, verdict } = report;
    const end =
      outcome === null
        ? ''
        : ` ${outcome.state}${outcome.reason === null ? '' : ` (${outcome.reason})`}, ${outcome.mode}`;
    io.out.line(line`${styled(verdict === 'verified' ? 'green' : 'red', verdict)}${end}  ${report.changeId ?? ''}`);
    if (verdict === 'verified' && !report.witnessed)
      io.err.line('No checkpoint covers these rows: export again a minute later for proof that none is missing');
  }
  return report.verdict === 'verified' ? ExitCode.Ok : ExitCode.Unverified;
}

async function replayOne(io: Io, [what = '']: readonly string[]): Promise<ExitCode> {
  const of = CHANGE_ID.test(what) ? { changeId: what } : { file: await io.deps.readFile(what, MAX_FILE) };
  const replayed = await (await io.deps.evidence()).replay(of, io.err.line);
  if (replayed.kind === 'moved') {
    if (io.json) io.out.json(replayed);
    else io.err.line(line`${styled('yellow', 'other logic here')}: ${replayed.explanation}`);
    return ExitCode.Stale;
  }
  const { report } = replayed;
  if (io.json) io.out.json(replayed);
  else printReplay(io, report);
  return report.equal ? ExitCode.Ok : ExitCode.Unverified;
}

function printReplay(io: Io, report: ReplayReport): void {
  for (const id of report.notReproducible)
    io.out.line(line`${styled('yellow', 'other')} ${id}: recorded as an error that need not come again`);
  for (const { validatorId, recorded, recomputed } of report.differences) {
    io.out.line(line`${styled('red', 'DIFFERS')} ${validatorId}`);
    io.out.block(recorded ?? 'nothing', '  - ');
    io.out.block(recomputed ?? 'nothing', '  + ');
  }
  const { equal, recomputed, findings } = report;
  io.out.line(
    equal
      ? line`${styled('green', 'equal')}  ${recomputed} of ${findings} findings computed again, byte for byte`
      : line`${styled('red', 'not equal')}  ${report.differences.length} of ${findings} findings differ`,
  );
}

async function verifyLedger(io: Io, [id]: readonly string[]): Promise<ExitCode> {
  if (id !== undefined) assertChangeId(id);
  let said = io.deps.now().getTime();
  const report = await (
    await io.deps.evidence()
  ).verifyLedger(id ?? null, (rows) => {
    const now = io.deps.now().getTime();
    if (now - said < PROGRESS_MS) return;
    said = now;
    io.err.line(`${rows} rows checked`);
  });
  if (io.json) io.out.json(report);
  else {
    io.out.line(
      line`${report.rows} rows of ${report.changes} reviews, ${report.checkpoints} checkpoints, ${report.uncovered} rows since the last`,
    );
    for (const problem of report.problems) io.out.line(line`${styled('red', 'FAIL')} ${problem}`);
    if (report.problemCount > report.problems.length) io.out.line(`… ${report.problemCount} problems in all`);
    io.out.line(report.ok ? styled('green', 'ok') : styled('red', 'the ledger was changed'));
  }
  return report.ok ? ExitCode.Ok : ExitCode.Unverified;
}

function assertChangeId(id: string): void {
  if (!CHANGE_ID.test(id)) throw new UsageError(`id: expected a change id, 64 lower-case hex digits, got "${id}"`);
}
