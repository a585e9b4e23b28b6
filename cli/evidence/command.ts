import type { Command } from 'commander';
import type { EvidenceReport, EvidenceTrust } from '../../signing/verify-evidence';
import { evidenceChecksum, MAX_EVIDENCE_BYTES, parseEvidence } from '../../policy/evidence/bundle';
import { isIdPrefix } from '../../policy/evidence/ledger-port';
import type { ReplayReport } from '../../policy/evidence/reports';
import { CountersignError, messageOf } from '../../client/errors';
import { addAction, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { readFileBytes, writeNewFile } from '../files';
import { isGiven, textOption, type Options } from '../options';
import { line, styled, type Text } from '../printer';
import { CHANGE_ID, resolveChangeId } from '../reviews/change-id';
import { UsageError } from '../usage-error';

const MAX_TRUST_BYTES = 1024 * 1024;

export function register(program: Command, cli: Cli): void {
  const exportCommand = program
    .command('export')
    .description('write one review as an evidence file, to verify offline')
    .argument('<id>', CHANGE_ID)
    .option('--bytes', 'with the diff itself, so that findings can be replayed')
    .option('--out <file>', 'where to (default: standard output)');
  addAction(exportCommand, cli, exportEvidence);

  const verify = program
    .command('verify')
    .description('check evidence: no server, no network')
    .argument('<file>', 'what export wrote')
    .option('--trust <file>', '{"operators": [public keys], "committers": [...]}');
  addAction(verify, cli, verifyFile);

  const replay = program
    .command('replay')
    .description('compute findings again, compare byte for byte')
    .argument('<id-or-file>', 'a change id or its first digits, or what export wrote');
  addAction(replay, cli, replayFindings);
}

async function exportEvidence(io: Io, [given = '']: readonly string[], options: Options): Promise<ExitCode> {
  const out = textOption(options, '--out');
  if (out === undefined && io.host.stdout.isTTY === true)
    throw new UsageError('--out is missing: evidence is not printed on a terminal');
  const { id, text: bundle } = await evidenceOf(io, given, isGiven(options, '--bytes'));
  if (out === undefined) {
    io.out.file(bundle);
    return ExitCode.Ok;
  }
  writeNewFile(out, bundle);
  const bytes = Buffer.byteLength(bundle);
  if (io.json) io.out.json({ changeId: id, file: out, bytes });
  else io.out.line(line`${out}  ${bytes} bytes`);
  return ExitCode.Ok;
}

async function evidenceOf(
  io: Io,
  given: string,
  bytes: boolean,
): Promise<{ readonly id: string; readonly text: string }> {
  return await io.withReviews({}, async ({ reviews, evidence }) => {
    const id = await resolveChangeId(reviews, given);
    return { id, text: await evidence(id, { bytes }, io.err.line) };
  });
}

async function verifyFile(io: Io, [file = '']: readonly string[], options: Options): Promise<ExitCode> {
  const trust = await trustOf(io, textOption(options, '--trust'));
  const { verifyEvidence } = await import('../../signing/verify-evidence.js');
  const report = verifyEvidence(await readEvidence(file), trust);
  if (io.json) io.out.json(report);
  else printVerified(io, report);
  return report.verdict === 'verified' ? ExitCode.Ok : ExitCode.Unverified;
}

/** The bytes of an evidence file. Throws UsageError for a file of another kind, and `not_verified` for one that was changed. */
async function readEvidence(path: string): Promise<Uint8Array> {
  const bytes = await readFileBytes(path, MAX_EVIDENCE_BYTES);
  const parsed = parseEvidence(bytes);
  if (parsed.ok) return bytes;
  if (parsed.isEvidence) throw new CountersignError('not_verified', `${path}: ${parsed.problem}`);
  throw new UsageError(`${path}: expected an evidence file as "countersign export" writes it; ${parsed.problem}`);
}

/** As `readEvidence`. Throws `not_verified` also if the checksum differs: what is computed again would be that of another review. */
async function readUndamaged(path: string): Promise<Uint8Array> {
  const bytes = await readEvidence(path);
  const parsed = parseEvidence(bytes);
  if (parsed.ok && evidenceChecksum(parsed.bundle) !== parsed.bundle.sha256)
    throw new CountersignError(
      'not_verified',
      `${path}: the file was damaged or changed; "countersign verify" says what differs`,
    );
  return bytes;
}

/**
 * The trust roots of the file, of the login, or of a state directory that the shell names. Nothing of the default one, which is below
 * the working directory: it can have come with the evidence.
 */
async function trustOf({ host: { env, shellEnv } }: Io, option: string | undefined): Promise<EvidenceTrust> {
  const isNamed = shellEnv['COUNTERSIGN_STATE_DIR'] !== undefined;
  const own = isNamed ? env : shellEnv;
  const file = option ?? own['COUNTERSIGN_TRUST_FILE'];
  if (file !== undefined) return await readTrust(file);
  const { readLogin } = await import('../gateway/login-file.js');
  const { knownSettings } = await import('../../workers/local-client.js');
  const known = isNamed ? knownSettings(env) : readLogin(shellEnv);
  if (known === null || known.operators.length === 0 || known.committers.length === 0)
    throw new UsageError(
      '--trust is missing: name the file with the public keys of operators and committers, set COUNTERSIGN_TRUST_FILE, use "countersign login", or name the directory of your own servers in COUNTERSIGN_STATE_DIR',
    );
  return { operators: known.operators, committers: known.committers };
}

async function readTrust(path: string): Promise<EvidenceTrust> {
  const { parseTrust } = await import('../../signing/trust-file.js');
  const bytes = await readFileBytes(path, MAX_TRUST_BYTES);
  try {
    return parseTrust(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new UsageError(`trust file ${path}: ${messageOf(error)}`);
  }
}

function printVerified(io: Io, { checks, outcome, verdict, changeId, witnessed }: EvidenceReport): void {
  for (const check of checks) io.out.line(line`${resultWord(check)} ${check.name.padEnd(NAME_WIDTH)}  ${check.detail}`);
  const reason = outcome?.reason == null ? '' : ` (${outcome.reason})`;
  const end = outcome === null ? '' : ` ${outcome.state}${reason}, ${outcome.mode}`;
  io.out.line(line`${styled(verdict === 'verified' ? 'green' : 'red', verdict)}${end}  ${changeId ?? ''}`);
  if (verdict === 'incomplete')
    io.err.line(
      'Rows are missing at the end of the file: it does not reach the signed head of the change. Export it again',
    );
  if (verdict === 'verified' && !witnessed)
    io.err.line('No checkpoint covers these rows: export again in a minute to prove that no row is missing');
}

/** As long as the longest name of a check. */
const NAME_WIDTH = 'previously_rejected'.length;

function resultWord({ result, required }: EvidenceReport['checks'][number]): Text {
  if (result === 'ok') return styled('green', 'ok  ');
  return result === 'not_checked' && !required ? styled('yellow', 'n/a ') : styled('red', 'FAIL');
}

async function replayFindings(io: Io, [idOrFile = '']: readonly string[]): Promise<ExitCode> {
  const file = isIdPrefix(idOrFile) ? (await evidenceOf(io, idOrFile, true)).text : await readUndamaged(idOrFile);
  const replay = await (await io.host.remote.evidence()).replayBundle(io.host.env, file);
  if (io.json) io.out.json(replay);
  if (replay.kind === 'moved') {
    if (!io.json) io.err.line(line`${styled('yellow', 'different rules here')}: ${replay.explanation}`);
    return ExitCode.Stale;
  }
  if (!io.json) printReplay(io, replay.report);
  return replay.report.equal ? ExitCode.Ok : ExitCode.Unverified;
}

function printReplay(io: Io, { equal, recomputed, findings, notReproducible, differences }: ReplayReport): void {
  for (const id of notReproducible)
    io.out.line(line`${styled('yellow', 'skip')} ${id}: recorded as an error that may not occur again`);
  for (const difference of differences) {
    io.out.line(line`${styled('red', 'DIFFERS')} ${difference.validatorId}`);
    io.out.block(difference.recorded ?? 'nothing', '  - ');
    io.out.block(difference.recomputed ?? 'nothing', '  + ');
  }
  io.out.line(
    equal
      ? line`${styled('green', 'equal')}  ${recomputed} of ${findings} findings computed again, byte for byte`
      : line`${styled('red', 'not equal')}  ${differences.length} of ${findings} findings differ`,
  );
}
