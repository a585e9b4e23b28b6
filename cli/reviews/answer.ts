import type { Command } from 'commander';
import { answerMessages } from '../../client/answer-messages';
import { CountersignError } from '../../client/errors';
import type { AnswerResults, Decision } from '../../policy/contracts/answer';
import type { Envelope } from '../../policy/contracts/diff';
import type { VerifiedReview } from '../../signing/verified-review';
import { addAction, promptFor, type Cli, type Io } from '../action';
import { exitCodeForAnswers } from '../exit-code-for';
import { ExitCode } from '../exit-codes';
import { integerOption, isGiven, textOption, type IntegerBounds, type Options } from '../options';
import { line, styled } from '../printer';
import { shellCommand } from '../shell-quote';
import { UsageError } from '../usage-error';
import { CHANGE_ID_TO_SIGN, changeIdToSign, shortIds } from './change-id';
import type { Connected } from './connection';
import { keyFileOf } from './key-option';
import { changeTitle } from './change-title';
import { printViolation, violationLabels } from './finding-view';
import { printStaging } from './staging-view';
import { takesAnswers } from './state-view';
import { isIdPrefix, MIN_ID_PREFIX } from '../../policy/evidence/ledger-port';

export function register(program: Command, cli: Cli): void {
  const answer = withAnswerOptions(
    program.command('answer').description('confirm, reject or retract, signed with your key'),
  );
  addAction(answer, cli, sendAnswers);

  const sign = withAnswerOptions(
    program.command('sign').description('sign answers, and print the command that sends them'),
  );
  addAction(sign, cli, printSignedAnswers);
}

function withAnswerOptions(command: Command): Command {
  return command
    .argument('<id>', CHANGE_ID_TO_SIGN)
    .option('--violation <id>', 'its id, or the first 8 or more digits of it')
    .option('--all', 'every violation that waits for an answer')
    .option('--confirm', 'confirm the chosen violations')
    .option('--reject', 'reject: the change is rolled back')
    .option('--retract', 'take your confirmation back, until the commit begins')
    .option('--reason <text>', 'why; required to reject')
    .option('--key <file>', 'your approver key')
    .option('--valid <minutes>', 'how long the signature is valid');
}

async function sendAnswers(io: Io, [given = '']: readonly string[], options: Options): Promise<ExitCode> {
  return await io.withReviews({ key: textOption(options, '--key') }, async (connected) => {
    const id = await changeIdToSign(connected, given);
    const signed = await chooseAndSign(io, connected, id, options, { min: 1, max: 24 * 60, default: 10 });
    const { envelopes, owners } = signed;
    const results = await connected.reviews.answer(id, [...envelopes], { owners });
    if (io.json) io.out.json({ changeId: id, decision: signed.decision, results });
    else printResults(io, signed.violationIds, results);
    if (Object.values(results).some(({ code }) => code === 'unknown_key'))
      io.err.line('an operator registers a key with: countersign keys register PUBLIC-KEY');
    if (connected.temporal === null && Object.values(results).some(isRecorded))
      io.err.line(
        'Only the gateway says that an answer was recorded, until a signed checkpoint covers its row. The check `checkpoint` of countersign verify shows that for the rows of a new countersign export',
      );
    return exitCodeForAnswers(results);
  });
}

async function printSignedAnswers(io: Io, [given = '']: readonly string[], options: Options): Promise<ExitCode> {
  return await io.withReviews({ key: textOption(options, '--key') }, async (connected) => {
    const id = await changeIdToSign(connected, given);
    const { envelopes } = await chooseAndSign(io, connected, id, options, { min: 1, max: 7 * 24 * 60, default: 60 });
    const messages = answerMessages(envelopes).map((answers) => ({ answers }));
    const { temporal } = connected;
    const commands = temporal === null ? [] : messages.map((message) => signalCommand(temporal, id, message));
    if (io.json) io.out.json({ changeId: id, messages, commands: commands.map(shellCommand), argv: commands });
    else {
      messages.forEach((message) => io.out.json(message));
      commands.forEach((words) => io.out.line(shellCommand(words)));
      if (temporal !== null) io.err.line('anyone who has this command can send it, once, until it expires');
      else io.err.line(`send each to the gateway, once, until it expires: POST /v1/reviews/${id}/answers`);
    }
    return ExitCode.Ok;
  });
}

interface SignedAnswers {
  readonly envelopes: readonly Envelope[];
  readonly violationIds: readonly string[];
  readonly decision: Decision;
  /** The person whose key file it is. */
  readonly owners: ReadonlyMap<string, string>;
}

/** Lets the person choose violations and a decision, prints what they answer, and signs the answers. Sends nothing. */
async function chooseAndSign(
  io: Io,
  connected: Connected,
  id: string,
  options: Options,
  validity: IntegerBounds,
): Promise<SignedAnswers> {
  const { reviews } = connected;
  const minutes = integerOption(options, '--valid', validity);
  const keyFile = keyFileOf(connected, options);
  const given = givenDecision(options);
  const { loadKey } = await import('../key-files.js');
  const { createSigner } = await import('../../client/signer.js');
  const { signAnswers } = await import('../../client/sign-answers.js');
  const review = await reviews.review(id);
  const { status } = review;
  const prefix = textOption(options, '--violation');
  const all = isGiven(options, '--all');
  const retracts = given === 'retract' ? await ownConfirmations(io, keyFile, review) : undefined;
  const violationIds =
    retracts !== undefined && all && prefix === undefined
      ? [...retracts.keys()]
      : chosenViolations(review, prefix, all);
  // What is being answered is printed before the question, on standard error: pipes receive data only.
  io.err.line(line`${styled('bold', await changeTitle(io.host.env, review))}  ${id}`);
  for (const warning of review.status.warnings) io.err.block(warning, '  ! ', () => 'yellow');
  printStaging(io.err, review);
  const label = violationLabels(status);
  for (const violation of status.violations.filter((v) => violationIds.includes(v.violationId)))
    printViolation(io.err, violation, null, { extent: 'full', label }, takesAnswers(status.state));
  const decision = given ?? (await promptForDecision(io));
  const reason =
    textOption(options, '--reason') ?? (decision === 'reject' ? await promptFor(io, 'Why?', '--reason') : '');
  if (decision === 'reject' && reason === '') throw new UsageError('--reason: a rejection needs a reason');
  const issuedAt = io.host.now();
  const expiresAt = new Date(issuedAt.getTime() + minutes * 60_000);
  const key = loadKey(io.host.env, keyFile);
  const signer = createSigner(key);
  const choice = { violationIds, decision, reason, ...(retracts === undefined ? {} : { retracts }) };
  const envelopes = signAnswers(id, review, choice, signer, { issuedAt, expiresAt });
  const owners = new Map(key.subject.type === 'person' ? [[key.keyId, key.subject.id]] : []);
  return { envelopes, violationIds, decision, owners };
}

/** The confirmations of the owner of the key, by violation id. Throws `refused` if there are none. */
async function ownConfirmations(
  io: Io,
  keyFile: string,
  { answers }: VerifiedReview,
): Promise<ReadonlyMap<string, string>> {
  const { loadKey } = await import('../key-files.js');
  const { confirmationsOf } = await import('../../client/retraction.js');
  const person = loadKey(io.host.env, keyFile).subject.id;
  const confirmations = confirmationsOf(answers, person);
  if (confirmations.size === 0)
    throw new CountersignError('refused', `"${person}" has no confirmation in this review to take back`);
  return confirmations;
}

function givenDecision(options: Options): Decision | null {
  const given = (['confirm', 'reject', 'retract'] as const).filter((decision) => isGiven(options, `--${decision}`));
  if (given.length > 1) throw new UsageError('Give only one of --confirm, --reject and --retract');
  return given[0] ?? null;
}

async function promptForDecision(io: Io): Promise<Decision> {
  const reply = await promptFor(io, 'Type "confirm" or "reject":', '--confirm or --reject');
  if (reply === 'confirm' || reply === 'reject') return reply;
  throw new UsageError(`expected "confirm" or "reject", got "${reply}"; nothing was sent`);
}

function printResults(io: Io, violationIds: readonly string[], results: AnswerResults): void {
  const entries = Object.entries(results);
  const label = shortIds([...Object.keys(results), ...violationIds]);
  for (const [key, { code, message }] of entries) {
    io.out.line(line`${label(key)}  ${styled(isRecorded({ code }) ? 'green' : 'red', code)}  ${message}`);
  }
  // A signal has no result.
  if (entries.length === 0)
    for (const violationId of violationIds)
      io.out.line(
        line`${label(violationId)}  ${styled('yellow', 'sent')}  see whether it was counted with: countersign show`,
      );
}

function isRecorded({ code }: Pick<AnswerResults[string], 'code'>): boolean {
  return code === 'accepted' || code === 'duplicate';
}

function signalCommand(
  { address, namespace }: NonNullable<Connected['temporal']>,
  id: string,
  message: object,
): string[] {
  const server = ['--address', address, '--namespace', namespace];
  const signal = ['--workflow-id', id, '--name', 'answer', '--input', JSON.stringify(message)];
  return ['temporal', 'workflow', 'signal', ...server, ...signal];
}

/**
 * The violations that `--violation K` (an id, or a prefix of at least 8 digits that only one id has) or `--all` choose.
 * `--all` means every violation that still waits for a person.
 */
function chosenViolations({ status, outcome }: VerifiedReview, prefix: string | undefined, all: boolean): string[] {
  if (all === (prefix !== undefined)) throw new UsageError('Give either --violation K or --all');
  const forHumans = status.violations.filter((violation) => violation.need === 'human');
  if (prefix === undefined) {
    const open = forHumans
      .filter((violation) => violation.resolution === 'pending' && takesAnswers(status.state))
      .map((violation) => violation.violationId);
    if (open.length === 0) {
      const why = outcome?.reason == null ? '' : ` (${outcome.reason})`;
      throw new CountersignError(
        'refused',
        `Review ${status.changeId} is ${status.state}${why}: no violation waits for an answer`,
      );
    }
    return open;
  }
  if (!isIdPrefix(prefix))
    throw new UsageError(
      `--violation: expected at least ${MIN_ID_PREFIX} lower-case hex digits of an id that \`show\` prints, got "${prefix}"`,
    );
  const matches = status.violations.filter((violation) => violation.violationId.startsWith(prefix));
  const [only, ...more] = matches;
  if (only === undefined)
    throw new CountersignError(
      'refused',
      `Review ${status.changeId} has no violation ${prefix}; \`countersign show\` lists them`,
    );
  if (more.length > 0)
    throw new UsageError(`--violation ${prefix} matches ${matches.length} violations: give more digits`);
  return [only.violationId];
}
