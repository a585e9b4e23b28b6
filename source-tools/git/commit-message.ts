/**
 * What a commit message from `metadata.message` may contain. The agent writes it, and readers of the repository, pipelines and
 * other tools trust it.
 *
 * M1 No character that hides or reorders text: what a reviewer reads is what a machine reads.
 * M2 Trailers only from a list. A trailer such as `Reviewed-by` would claim a review that did not take place.
 * M3 No directive to a pipeline, such as `[skip ci]`: it would switch off checks of the branch.
 */
import { isWellFormed, type JsonValue } from '../../policy/contracts/canonical-json';
import { bidi, controls, homoglyphs, invisible } from '../../policy/text/characters';
import { wordList } from '../../policy/text/word-list';

const MAX_MESSAGE = 4000;

const REFERENCES = wordList('fixes closes resolves refs references see see-also related issue ticket bug jira');
/** Allowed words before a colon at the start of a line, in lower case. A link starts with its scheme. */
const TRAILERS: ReadonlySet<string> = new Set([
  ...REFERENCES,
  ...wordList('note notes why what how before after example examples context motivation details http https'),
]);

/** `Reviewed-by`, `approved by`, `Signed off by`, with any separator. */
const CLAIM =
  /\b(?:review|approv|ack|nack|sign|test|verif|confirm|authori[sz]|audit|suggested|reported|co-?author)[a-z]*[\W_]*(?:off)?[\W_]*by\b/iu;
/** A line that tools read as a trailer. If the name has a hyphen, they do so without a blank after the colon. */
const TRAILER = /^\s*([^\s:]{1,100})\s*[:#](?:\s|$|\/\/)/u;
const CLOSE_TRAILER = /^\s*([a-z\d]{1,50}(?:-[a-z\d]{1,50}){1,10}):(?!:)/iu;
/** What precedes the colon in the first line of a conventional commit, such as `fix(shop)!`. */
const SUBJECT = /^[a-z]+(?:\([^)]*\))?!?$/;
const DIRECTIVE =
  /\[[^\]\n]*\b(?:skip|ci|no[ -]?build)\b[^\]\n]*\]|\*\*\*\s*no_?ci\s*\*\*\*|\bskip-checks\b|\bskip-ci\b/iu;

/** Null if the value may become a commit message. */
export function commitMessageProblem(value: JsonValue): string | null {
  if (typeof value !== 'string' || value.trim() === '' || value.length > MAX_MESSAGE)
    return `expected a string of 1 to ${MAX_MESSAGE} characters`;
  if (!isWellFormed(value)) return 'it has a lone surrogate';
  const odd = [...bidi(value), ...invisible(value), ...controls(value), ...homoglyphs(value)][0];
  if (odd !== undefined) return `it has a character that hides, reorders or imitates text: ${odd.what}`;
  if (/[^\P{C}\n]/u.test(value)) return 'control characters other than line feeds are not allowed';
  if (CLAIM.test(value)) return 'it claims a review or a signature ("… by"), which only Countersign can prove';
  if (DIRECTIVE.test(value)) return 'it has a directive to a pipeline, such as [skip ci]';
  for (const [i, line] of value.split('\n').entries()) {
    const token = (TRAILER.exec(line) ?? CLOSE_TRAILER.exec(line))?.[1];
    if (token === undefined) continue;
    if (TRAILERS.has(token.toLowerCase()) || (i === 0 && SUBJECT.test(token))) continue;
    return `line ${i + 1} looks like the trailer "${token}"; allowed are ${REFERENCES.join(', ')}`;
  }
  return null;
}
