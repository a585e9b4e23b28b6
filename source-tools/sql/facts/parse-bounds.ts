import { tooDeepAt } from './nesting';
import { refuse } from '../../../policy/text/refusal';
import { MAX_TOKENS, rescansTooMuchAt } from './scan-cost';
import type { Source } from './source';

/**
 * Throws a refusal if the parser would take too long for this text, or would overflow its stack (the limit differs between hosts).
 * Call it before every parse.
 */
export function refuseUnparsable(source: Source, plpgsql = false): void {
  const { bytes, tokens } = source;
  const rescans = rescansTooMuchAt(bytes, tokens);
  if (rescans !== null)
    refuse(
      'too_complex',
      'A sequence of operator characters is too long to be parsed',
      source.span(rescans, rescans + 1),
    );
  if (tokens.count > MAX_TOKENS) refuse('too_many_tokens', `The text contains more than ${MAX_TOKENS} tokens`, null);
  const deep = tooDeepAt(source, plpgsql);
  if (deep !== null) refuse('too_deep', 'The text is nested too deeply to be parsed', source.span(deep, deep));
}
