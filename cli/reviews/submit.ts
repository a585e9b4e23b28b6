import type { Command } from 'commander';
import { CountersignError, describe, messageOf } from '../../client/errors';
import type { ReviewResult } from '../../client/result';
import type { Submitted } from '../../client/review-calls';
import type { SubmitInput } from '../../client/submission';
import type { SubmittedBy } from '../../signing/verified-review';
import { shortTime } from '../../policy/text/short-time';
import { fires } from '../../policy/contracts/readings';
import { parseUniqueJson } from '../../policy/text/unique-json';
import { foldUnread } from '../../policy/rules/fold-unread';
import { addAction, type Cli, type Io } from '../action';
import { exitCodeForResult } from '../exit-code-for';
import { ExitCode } from '../exit-codes';
import { readInputBytes } from '../files';
import { integerOption, isGiven, nonEmptyOption, requiredOption, textOption, type Options } from '../options';
import { line, styled } from '../printer';
import { UsageError } from '../usage-error';
import { changeIdToSign } from './change-id';
import { titleIfVerified } from './change-title';
import { printFinding, printUnread } from './finding-view';
import type { Connected } from './connection';
import { printResult } from './result-view';
import { waitForEnd } from './wait';

/** A limit on what is read into memory; the service has the exact limit of a diff, and the better error message. */
const MAX_READ_BYTES = 2 * 1024 * 1024;
/** How long to wait for the end of a review that needs no answer from a person. */
const MIN_WAIT_SECONDS = 10;

export function register(program: Command, cli: Cli): void {
  const command = program
    .command('submit')
    .description('submit a change for review; FILE - reads standard input')
    .argument('<file>', 'the exact bytes of the diff')
    .option('--target <name>', 'the target that the change is for')
    .option('--tool <name>', 'source tool, e.g. SQLDryRun, SQLCAS, GitPatch')
    .option('--tenant <name>', 'tenant')
    .option('--metadata <json>', 'claims about the diff, a JSON object')
    .option('--request-key <text>', 'a different key makes the same change a new review')
    .option('--supersedes <id>', 'the review that this one replaces')
    .option('--inline', 'bytes into the workflow, at most 64 KiB')
    .option('--key <file>', 'service key that signs the submission')
    .option('--wait <seconds>', 'wait for the end');
  addAction(command, cli, submit);
}

async function submit(io: Io, [file = '-']: readonly string[], options: Options): Promise<ExitCode> {
  const waitSeconds = integerOption(options, '--wait', { min: 0, max: 7 * 24 * 3600, default: 0 });
  const input = await submitInput(io, file, options);
  const connect = { tenant: textOption(options, '--tenant'), key: textOption(options, '--key') };
  return await io.withReviews(connect, async (connected) => {
    const { reviews } = connected;
    const { supersedes } = input;
    const replaced =
      supersedes === undefined ? {} : { supersedes: await changeIdToSign(connected, supersedes, '--supersedes') };
    const submitted = await reviews.submit({ ...input, ...replaced });
    const submittedBefore = await otherSubmitter(connected, submitted.changeId);
    const forbidden = submitted.preflight !== 'pending' && submitted.preflight.forbidden;
    const open = submitted.outcome === null && !forbidden;
    if (!io.json) printSubmitted(io, submitted, submittedBefore);
    const { changeId } = submitted;
    let result: ReviewResult | null = null;
    try {
      if (!open || waitSeconds > 0)
        result = await waitForEnd(io, connected, changeId, Math.max(MIN_WAIT_SECONDS, waitSeconds) * 1000);
    } finally {
      // Also after an error: the change is submitted, and the caller needs its id.
      if (io.json) io.out.json({ ...submitted, submittedBefore, result });
    }
    if (result === null) {
      if (!io.json) io.err.line(line`see it with: countersign show ${changeId}`);
      return ExitCode.Pending;
    }
    if (!io.json)
      printResult(io.err, changeId, await titleIfVerified(io.host.env, reviews, changeId), result, io.host.now());
    return exitCodeForResult(result);
  });
}

async function submitInput(io: Io, file: string, options: Options): Promise<SubmitInput> {
  const metadata = nonEmptyOption(options, '--metadata');
  const requestKey = nonEmptyOption(options, '--request-key');
  const supersedes = nonEmptyOption(options, '--supersedes');
  return {
    target: requiredOption(options, '--target'),
    sourceTool: requiredOption(options, '--tool'),
    raw: await readInputBytes(io, file, MAX_READ_BYTES),
    ...(metadata === undefined ? {} : { metadata: parseMetadata(metadata) }),
    ...(requestKey === undefined ? {} : { requestKey }),
    ...(supersedes === undefined ? {} : { supersedes }),
    ...(isGiven(options, '--inline') ? { inline: true } : {}),
  };
}

/** Who submitted this change first, if that was another key; null also if it is not known yet, or not to this key. */
async function otherSubmitter({ reviews, keyId }: Connected, changeId: string): Promise<SubmittedBy | null> {
  try {
    const { submittedBy } = await reviews.review(changeId);
    return submittedBy?.keyId === keyId ? null : submittedBy;
  } catch (error) {
    if (error instanceof CountersignError) return null;
    throw error;
  }
}

function printSubmitted(io: Io, { changeId, preflight, outcome }: Submitted, before: SubmittedBy | null): void {
  io.out.line(changeId);
  if (before !== null)
    io.err.block(
      `submitted before by another key, ${before.keyId.slice(0, 16)} of ${before.subject}, at ${shortTime(before.at)}: this is the same review. For a review of its own, give another --request-key`,
      '',
      () => 'yellow',
    );
  if (outcome !== null) io.err.line('this change was reviewed before; to submit it again, give another --request-key');
  else if (preflight === 'pending') io.err.line(styled('yellow', 'no findings yet; the review continues'));
  else {
    const { shown, unread } = foldUnread(preflight.findings.filter(fires));
    io.err.line(
      styled('dim', shown.length === 0 ? 'no check has fired so far, provisional' : 'findings so far, provisional:'),
    );
    for (const finding of shown) printFinding(io.err, finding, { diffSha: '', text: null });
    printUnread(io.err, unread.length);
  }
}

function parseMetadata(json: string): Record<string, never> {
  let value: unknown;
  try {
    value = parseUniqueJson(json);
  } catch (error) {
    throw new UsageError(`--metadata: expected a JSON object, got invalid JSON: ${messageOf(error)}`, { cause: error });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, never>;
  throw new CountersignError('invalid_input', `--metadata: expected a JSON object, got ${describe(value)}`, {
    field: 'metadata',
  });
}
