import { toWellFormed } from '../contracts/canonical-json';
import { MAX_EXPLANATION_LENGTH } from '../contracts/limits';

/** The first `max` UTF-16 code units, or one less if that would split a surrogate pair: text with a lone surrogate cannot be hashed. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const unit = text.charCodeAt(max - 1);
  return text.slice(0, unit >= 0xd800 && unit <= 0xdbff ? max - 1 : max);
}

/** `text` if it fits, otherwise its start and an ellipsis: at most `max` UTF-16 code units. */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${cutText(text, max - 1)}…`;
}

/** As `cutText`, with lone surrogates replaced, so that the result can be hashed. */
export function cutWellFormed(text: string, max: number): string {
  return toWellFormed(cutText(text, max));
}

/** Truncates the text of a failure for a ledger row. */
export function cutExplanation(text: string): string {
  return cutWellFormed(text, MAX_EXPLANATION_LENGTH);
}
