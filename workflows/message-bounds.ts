/**
 * Bounds on the messages of one review, so that no sender can fill its history or keep its workers busy.
 *
 * B1 Update validators call `refusal`: a refused update writes no event. Signals are in the history before this code runs; past a
 *    bound they are counted and dropped without an activity.
 * B2 Only messages that changed nothing count. An answer that is accepted gives its place back, so honest answers have no bound.
 * B3 The counts are per hour: junk cannot shut approvers out for good. The sender is the key that the message names, not verified.
 */
import { valueAt } from '../policy/contracts/issues';

/** In UTF-16 code units of JSON. The largest honest message is 50 answers with reasons of 2,000 characters. */
export const MAX_MESSAGE_LENGTH = 256 * 1024;

const WINDOW_MS = 60 * 60_000;
/** `submit` is sent once by each waiting client, the others by people. */
export const MAX_PER_REVIEW = { submit: 500, answer: 500, stop: 100 } as const;
export const MAX_PER_SENDER = 50;

export type MessageKind = keyof typeof MAX_PER_REVIEW;

/** The counts of the current hour, as the next run receives them. */
export interface Counts {
  readonly since: number;
  readonly byKind: Readonly<Record<MessageKind, number>>;
  readonly bySender: Readonly<Record<string, number>>;
}

const NONE: Counts = { since: 0, byKind: { submit: 0, answer: 0, stop: 0 }, bySender: {} };

export class MessageBounds {
  #since: number;
  #byKind: Record<MessageKind, number>;
  #bySender: Map<string, number>;

  /** `now` in milliseconds. */
  constructor(
    readonly now: () => number,
    counts: Counts = NONE,
  ) {
    this.#since = counts.since;
    this.#byKind = { ...counts.byKind };
    this.#bySender = new Map(Object.entries(counts.bySender));
  }

  /** Null if the message may be handled, otherwise why not. Changes nothing, because a validator may not. */
  refusal(kind: MessageKind, message: unknown): string | null {
    const length = lengthOf(message);
    if (length === null || length > MAX_MESSAGE_LENGTH)
      return `The message is longer than ${MAX_MESSAGE_LENGTH} characters`;
    if (this.#isOver()) return null;
    if (this.#byKind[kind] >= MAX_PER_REVIEW[kind])
      return `The review had ${MAX_PER_REVIEW[kind]} messages of this kind without effect in an hour. Try again later`;
    if (kind !== 'submit' && (this.#bySender.get(senderOf(message)) ?? 0) >= MAX_PER_SENDER)
      return `The review had ${MAX_PER_SENDER} messages of this sender without effect in an hour. Try again later`;
    return null;
  }

  /** Counts a message that will be handled. Call `giveBack` if it had an effect. */
  count(kind: MessageKind, message: unknown): void {
    if (this.#isOver()) {
      this.#since = this.now();
      this.#byKind = { ...NONE.byKind };
      this.#bySender = new Map();
    }
    this.#add(kind, message, 1);
  }

  giveBack(kind: MessageKind, message: unknown): void {
    this.#add(kind, message, -1);
  }

  counts(): Counts {
    return { since: this.#since, byKind: this.#byKind, bySender: Object.fromEntries(this.#bySender) };
  }

  #isOver(): boolean {
    return this.now() - this.#since >= WINDOW_MS;
  }

  #add(kind: MessageKind, message: unknown, change: 1 | -1): void {
    this.#byKind[kind] = Math.max(0, this.#byKind[kind] + change);
    if (kind === 'submit') return;
    const sender = senderOf(message);
    const count = (this.#bySender.get(sender) ?? 0) + change;
    if (count > 0) this.#bySender.set(sender, count);
    else this.#bySender.delete(sender);
  }
}

/** Null if it cannot be written as JSON: a value that is nested very deep exceeds the stack. */
function lengthOf(message: unknown): number | null {
  try {
    return JSON.stringify(message)?.length ?? 0;
  } catch {
    return null;
  }
}

/** Where an envelope names its key. */
export const KEY_ID = ['signatures', '0', 'keyid'];

/** The key or the actor that the message names first. At most 200 characters. */
function senderOf(message: unknown): string {
  const first = valueAt(message, ['answers', '0']) ?? valueAt(message, ['statement']) ?? message;
  const named = valueAt(first, KEY_ID) ?? valueAt(first, ['actor']);
  return typeof named === 'string' ? `:${named.slice(0, 200)}` : 'unnamed';
}
