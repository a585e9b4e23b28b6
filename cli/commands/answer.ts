import type { Command } from 'commander';
import type { AnswerResults, Decision } from '../../policy/contracts/answer';
import type { Envelope } from '../../policy/contracts/diff';
import type { ReviewStatus } from '../../policy/contracts/status';
import { ask, required, runs, text, whole, type Cli, type Io, type Options } from '../command';
import type { Connected } from '../deps';
import { ExitCode } from '../exit-codes';
import { exitOfAnswers } from '../exit-of';
import { line, styled } from '../printer';
import { printViolation } from '../review-view';
import { shellCommand } from '../shell-quote';
import { UsageError } from '../usage-error';
import { chosenViolations } from '../violation-choice';

export function register(program: Command, cli: Cli): void {
  const answer = withChoice(
    program.command('answer').description('confirm or reject violations, signed with your key'),
  );
  runs(
    answer.option('--via <way>', 'update (default: the verdict comes back) or signal'),
    cli,
    async (io, [id = ''], options) => {
      return await io.connected({}, async (connected) => {
        const signed = await signedAnswers(io, connected, id, options, { min: 1, max: 24 * 60, otherwise: 10 });
        const results = await connected.reviews.answer(id, [...signed.envelopes], { via: wayOf(options) });
        if (io.json) io.out.json({ changeId: id, decision: signed.decision, results });
        else printResults(io, signed.violationIds, results);
        return exitOfAnswers(results);
      });
    },
  );

  const sign = withChoice(program.command('sign').description('sign answers, and print the command that sends them'));
  runs(sign, cli, async (io, [id = ''], options) => {
    return await io.connected({}, async (connected) => {
      const { envelopes } = await signedAnswers(io, connected, id, options, {
        min: 1,
        max: 7 * 24 * 60,
        otherwise: 60,
      });
      const messages = inMessages(envelopes);
      const commands = messages.map((message) => signalCommand(connected, id, message));
      if (io.json) io.out.json({ changeId: id, messages, commands: commands.map(shellCommand), argv: commands });
      else {
        messages.forEach((message) => io.out.json(message));
        commands.forEach((words) => io.out.line(shellCommand(words)));
        io.err.line('anyone who has this command can send it, once, until it expires');
      }
      return ExitCode.Ok;
    });
  });
}

function withChoice(command: Command): Command {
  return command
    .argument('<id>', 'the change id')
    .option('--violation <id>', 'its id, or the first 6 or more digits of it')
    .option('--all', 'every violation that waits for an answer')
    .option('--confirm', 'yes, as far as this one goes')
    .option('--reject', 'no: roll the change back')
    .option('--reason <text>', 'why; needed to reject')
    .option('--key <file>', 'your approver key')
    .option('--valid <minutes>', 'how long the signature is good for');
}

interface Signed {
  readonly envelopes: readonly Envelope[];
  readonly violationIds: readonly string[];
  readonly decision: Decision;
}

async function signedAnswers(
  io: Io,
  { reviews }: Connected,
  id: string,
  options: Options,
  valid: { min: number; max: number; otherwise: number },
): Promise<Signed> {
  const minutes = whole(options, 'valid', '--valid', valid);
  const keyFile = required(options, 'key', '--key');
  const status = await reviews.status(id);
  const violationIds = chosenViolations(status, text(options, 'violation'), options['all'] === true);
  // What is being answered, before the question: on standard error, so that pipes get data only.
  for (const violation of status.violations.filter((v) => violationIds.includes(v.violationId)))
    printViolation(io.err, violation);
  const decision = await decisionOf(io, options);
  const reason = text(options, 'reason') ?? (decision === 'reject' ? await ask(io, 'Why?', '--reason') : '');
  if (decision === 'reject' && reason === '') throw new UsageError('--reason: a rejection says why');
  const signer = await io.deps.loadKey(keyFile);
  return {
    envelopes: sign(status, violationIds, decision, reason, signer, io.deps.now(), minutes),
    violationIds,
    decision,
  };
}

function sign(
  status: ReviewStatus,
  violationIds: readonly string[],
  decision: Decision,
  reason: string,
  signer: Parameters<typeof import('../../client/sign-answers').signAnswers>[2],
  issuedAt: Date,
  minutes: number,
): readonly Envelope[] {
  // Loaded here: schemas and signatures are no part of a command's start.
  const { signAnswers } = require('../../client/sign-answers') as typeof import('../../client/sign-answers');
  return signAnswers(status, { violationIds, decision, reason }, signer, {
    issuedAt,
    expiresAt: new Date(issuedAt.getTime() + minutes * 60_000),
  });
}

async function decisionOf(io: Io, options: Options): Promise<Decision> {
  const confirm = options['confirm'] === true;
  if (confirm && options['reject'] === true) throw new UsageError('Give either --confirm or --reject');
  if (confirm) return 'confirm';
  if (options['reject'] === true) return 'reject';
  const said = await ask(io, 'Type "confirm" or "reject":', '--confirm or --reject');
  if (said === 'confirm' || said === 'reject') return said;
  throw new UsageError(`expected "confirm" or "reject", got "${said}"; nothing was sent`);
}

function wayOf(options: Options): 'update' | 'signal' {
  const via = text(options, 'via') ?? 'update';
  if (via === 'update' || via === 'signal') return via;
  throw new UsageError(`--via: expected update or signal, got "${via}"`);
}

function printResults(io: Io, violationIds: readonly string[], results: AnswerResults): void {
  const entries = Object.entries(results);
  for (const [key, { code, message }] of entries) {
    const good = code === 'accepted' || code === 'duplicate';
    io.out.line(line`${key.slice(0, 12)}  ${styled(good ? 'green' : 'red', code)}  ${message}`);
  }
  if (entries.length === 0)
    for (const violationId of violationIds)
      io.out.line(
        line`${violationId.slice(0, 12)}  ${styled('yellow', 'sent')}  see what became of it with: countersign show`,
      );
}

/** At most 50 answers in a message, as the workflow takes them. */
function inMessages(envelopes: readonly Envelope[]): { readonly answers: readonly Envelope[] }[] {
  const messages = [];
  for (let i = 0; i < envelopes.length; i += 50) messages.push({ answers: envelopes.slice(i, i + 50) });
  return messages;
}

function signalCommand({ address, namespace }: Connected, id: string, message: object): string[] {
  return [
    'temporal',
    'workflow',
    'signal',
    '--address',
    address,
    '--namespace',
    namespace,
    '--workflow-id',
    id,
    '--name',
    'answer',
    '--input',
    JSON.stringify(message),
  ];
}
