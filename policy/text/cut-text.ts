import { toWellFormed } from '../contracts/canonical-json';
import { MAX_EXPLANATION_LENGTH } from '../contracts/limits';

/** The first `max` UTF-16 units, or one less if that would split a surrogate pair: text with half of one cannot be hashed. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const unit = text.charCodeAt(max - 1);
  return text.slice(0, unit >= 0xd800 && unit <= 0xdbff ? max - 1 : max);
}

/** `text` if it fits, otherwise its beginning and an ellipsis: at most `max` UTF-16 units. */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${cutText(text, max - 1)}…`;
}

/** The words of a failure as a ledger row takes them: bounded, and well-formed whatever they quote. */
export function cutExplanation(text: string): string {
  return toWellFormed(cutText(text, MAX_EXPLANATION_LENGTH));
}
