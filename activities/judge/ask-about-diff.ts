import { sha256HexOfText } from '../../policy/contracts/hash';
import type { ValidatorResult } from '../../policy/contracts/finding';
import { toWellFormed } from '../../policy/contracts/canonical-json';
import { makeDocument, type JudgeDocument } from '../../policy/judge/document';
import { conclude, rank } from '../../policy/judge/conclude';
import { judge, notCovered, type AnsweredPiece } from '../../policy/judge/judgement';
import { splitDocument, type Piece } from '../../policy/judge/pieces';
import { instructions, nonceOf, userMessage } from '../../policy/judge/prompt';
import { readAnswer } from '../../policy/judge/read-answer';
import { addUsage, costMicros, NO_USAGE, type JudgeCall, type JudgeRecord } from '../../policy/judge/record';
import { createRedactor } from '../../policy/judge/redact';
import { wireJsonSchema, type WireAnswer } from '../../policy/judge/wire';
import { cacheKey } from './cache';
import type { JudgeDeps } from './judge-deps';
import { parseFailure, unreadableDiff } from './judge-failures';
import { NO_CALLS, toRecord, type RecordContext } from './judge-record';
import type { JudgedChange, ResolvedJudge } from './resolve-judge';
import { parallel } from './parallel';
import type { ModelReply } from './model-exchange';

/** Dependencies of the model calls, without those of signing and the ledger. */
export type AskDeps = Pick<JudgeDeps, 'transport' | 'cache' | 'markingKey' | 'prices' | 'now'>;

export interface JudgeAnswer {
  readonly result: ValidatorResult;
  readonly record: JudgeRecord;
  /** Answer texts for the ledger, with secrets redacted; empty text if the size limit was reached. */
  readonly answers: readonly { readonly responseSha: string; readonly text: string }[];
}

/** Concurrent model calls for one diff. */
const MAX_CONCURRENT_CALLS = 4;
/** UTF-16 units of answer text that the ledger keeps for one diff. Answers past it are kept as hashes only. */
const MAX_STORED_ANSWER_LENGTH = 64 * 1024;

interface Conversation {
  readonly document: JudgeDocument;
  readonly pieces: readonly Piece[];
  readonly nonce: string;
  readonly deadlineAt: number;
}

interface PieceReply {
  readonly answered: AnsweredPiece;
  readonly call: JudgeCall;
  readonly text: string;
  /** The model's reply to a request of this change, from this or an earlier attempt. Null: it made none for this piece. */
  readonly paid: ModelReply | null;
}

/**
 * Renders the diff, splits it, asks the model about each piece and combines the answers. Makes no call, and returns
 * an ERROR for a person to answer, if the diff exceeds what the plan allows the judge to see. Throws CountersignFailure if
 * the model gives no usable answer or the bytes are not text.
 */
export async function askAboutDiff(
  deps: AskDeps,
  judgeOfPlan: ResolvedJudge,
  change: JudgedChange,
  run: { readonly signal: AbortSignal; readonly attempt: number },
): Promise<JudgeAnswer> {
  const startedAt = deps.now();
  const { validator, config, renderer, raw, effectMembers } = judgeOfPlan;
  const rendered = makeDocument({
    raw,
    maxBytes: config.byteBudget * config.maxChunks,
    metadata: change.metadata,
    renderer,
    metadataKeys: [...new Set([...config.metadataKeys, ...effectMembers])],
    proseKeys: config.includeAgentProse ? config.proseKeys : null,
  });
  const context = { change, judgeOfPlan, host: deps.transport.host, attempt: run.attempt };
  if (!rendered.ok && rendered.kind === 'undecodable') throw unreadableDiff('undecodable', rendered.reason);
  if (!rendered.ok) return notAsked(context, rendered.reason);
  const { document } = rendered;
  const split = splitDocument(document, config.byteBudget, config.maxChunks);
  if (!split.ok) return notAsked(context, split.reason);

  const conversation: Conversation = {
    document,
    pieces: split.pieces,
    nonce: nonceOf(deps.markingKey, change.diffSha, validator.logic_hash),
    deadlineAt: startedAt + config.deadlineMs,
  };
  const replies = await parallel(split.pieces.length, MAX_CONCURRENT_CALLS, run.signal, (index, signal) =>
    askAboutPiece(deps, judgeOfPlan, change, conversation, index, signal),
  );
  const judgement = judge({
    validatorId: validator.id,
    diffSha: change.diffSha,
    document,
    validatorVersion: validator.version,
    model: config.model,
    pieces: replies.map((reply) => reply.answered),
    markers: document.markers,
    bytes: raw.length,
  });
  const calls = replies.map((reply) => reply.call);
  const paid = replies.flatMap((reply) => reply.paid ?? []);
  const cost = paid.reduce<number | null>((total, reply) => addOrNull(total, costOf(deps, config.model, reply)), 0);
  const coverage = { bytes: raw.length, pieces: split.pieces.length, lines: document.lines.length };
  return {
    result: judgement.result,
    answers: answersToStore(replies),
    record: toRecord(context, document, {
      result: judgement.result,
      judgement,
      calls,
      coverage,
      usage: paid.reduce((total, { usage }) => addUsage(total, usage), NO_USAGE),
      cost,
      latencyMs: Math.max(0, deps.now() - startedAt),
    }),
  };
}

async function askAboutPiece(
  deps: AskDeps,
  judgeOfPlan: ResolvedJudge,
  change: JudgedChange,
  conversation: Conversation,
  index: number,
  signal: AbortSignal,
): Promise<PieceReply> {
  const { config, validator } = judgeOfPlan;
  const { document, nonce } = conversation;
  const piece = conversation.pieces[index];
  if (piece === undefined) throw new RangeError(`No piece ${index}`);
  const policyIds = config.policies.map((policy) => policy.id);
  const systemMessage = instructions(config.policies);
  const message = userMessage({
    document,
    piece,
    index,
    pieces: conversation.pieces.length,
    nonce,
    sourceTool: change.sourceTool,
    policyIds,
  });
  // Starts with the length of the first message, so that the border is unambiguous.
  const promptSha = sha256HexOfText(`${systemMessage.length}\n${systemMessage}${message}`);
  const key = cacheKey({
    tenant: change.tenant,
    sourceTool: change.sourceTool,
    host: deps.transport.host,
    logicHash: validator.logic_hash,
    renderer: document.renderer,
    promptSha,
  });

  const expected = { policyIds, canary: nonce, piece };
  const cached = await deps.cache.get(key);
  const startedAt = deps.now();
  if (cached !== null) {
    const paid = cached.origin === change.changeId ? cached : null;
    return replyFor(piece, promptSha, {
      reply: cached,
      answer: answerIn(cached, expected),
      origin: cached.origin,
      paid,
    });
  }
  const reply = await deps.transport.ask(
    {
      model: config.model,
      instructions: systemMessage,
      message,
      jsonSchema: wireJsonSchema(policyIds),
      structuredOutput: config.structuredOutput,
      maxTokens: config.maxTokens,
      ...(config.temperature === undefined ? {} : { temperature: config.temperature }),
      acceptedModels: config.acceptedModels,
      cacheKey: config.computed.promptSha,
    },
    { signal, deadlineMs: Math.max(1, conversation.deadlineAt - startedAt) },
  );
  const latencyMs = Math.max(0, deps.now() - startedAt);
  const own = { reply, answer: answerIn(reply, expected), origin: null, paid: reply, latencyMs };
  // Copies of a change that are judged at the same time are asked separately. Of two answers the stricter one counts.
  const first = await deps.cache.set(key, { ...reply, origin: change.changeId });
  if (first === null) return replyFor(piece, promptSha, own);
  const other = { ...own, reply: first, answer: answerIn(first, expected), origin: first.origin };
  return replyFor(piece, promptSha, isStricter(other.answer, own.answer) ? other : own);
}

/** Throws CountersignFailure, not retryable, if the answer cannot be read. */
function answerIn({ text, model }: ModelReply, expected: Parameters<typeof readAnswer>[1]): WireAnswer {
  const read = readAnswer(text, expected);
  if (read.ok) return read.answer;
  const details = { code: read.code, responseSha: sha256HexOfText(text), returnedModel: model };
  throw parseFailure('answer', `${read.code}: ${read.message}`, details);
}

function isStricter(a: WireAnswer, b: WireAnswer): boolean {
  return rank(conclude(a).status) > rank(conclude(b).status);
}

interface Used {
  readonly reply: ModelReply;
  readonly answer: WireAnswer;
  /** The change that the model was asked about; null if that was in this attempt. */
  readonly origin: string | null;
  readonly paid: ModelReply | null;
  readonly latencyMs?: number;
}

function replyFor(piece: Piece, promptSha: string, { reply, answer, origin, paid, latencyMs = 0 }: Used): PieceReply {
  return {
    answered: { piece, answer },
    text: reply.text,
    paid,
    call: {
      firstLine: piece.first + 1,
      lastLine: piece.last + 1,
      promptSha,
      responseSha: sha256HexOfText(reply.text),
      returnedModel: reply.model,
      requestId: reply.requestId,
      finishReason: reply.finishReason,
      usage: reply.usage,
      structuredOutput: reply.structured,
      latencyMs,
      reusedFrom: origin,
    },
  };
}

/** The result for a diff that exceeds the judge's limits. Its record has no calls. */
function notAsked(context: RecordContext, reason: string): JudgeAnswer {
  const { change, judgeOfPlan } = context;
  const bytes = judgeOfPlan.raw.length;
  const result = notCovered(judgeOfPlan.validator.id, change.diffSha, bytes, reason);
  const coverage = { bytes, pieces: 0, lines: 0 };
  const record = toRecord(context, null, { ...NO_CALLS, coverage, cost: 0, result });
  return { result, answers: [], record: { ...record, cause: 'too_large' } };
}

/** At the price of the model that answered, or of the requested model if the price table does not list the former. */
function costOf({ prices }: AskDeps, requestedModel: string, { model, usage }: ModelReply): number | null {
  return costMicros(prices, model, usage) ?? costMicros(prices, requestedModel, usage);
}

function addOrNull(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function answersToStore(replies: readonly PieceReply[]): JudgeAnswer['answers'] {
  let remaining = MAX_STORED_ANSWER_LENGTH;
  return replies.map(({ text, call }) => {
    const redacted = toWellFormed(createRedactor().redact(text));
    const fits = redacted.length <= remaining;
    if (fits) remaining -= redacted.length;
    return { responseSha: call.responseSha, text: fits ? redacted : '' };
  });
}
