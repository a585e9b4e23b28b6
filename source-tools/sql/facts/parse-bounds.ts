import { tooDeepAt } from './nesting';
import { refuse } from '../../../policy/text/refusal';
import { MAX_TOKENS, rescansTooMuchAt } from './scan-cost';
import type { Source } from './source';

/** Throws the refusal of a text that the parser would take too long over, or fail on differently from host to host. To be called before every parse. */
export function refuseUnparsable(source: Source, plpgsql = false): void {
  const { bytes, tokens } = source;
  const rescans = rescansTooMuchAt(bytes, tokens);
  if (rescans !== null)
    refuse('too_complex', 'A run of operator signs is too long to be read', source.span(rescans, rescans + 1));
  if (tokens.count > MAX_TOKENS)
    refuse('too_many_tokens', `The text holds more than ${MAX_TOKENS} words and signs`, null);
  const deep = tooDeepAt(source, plpgsql);
  if (deep !== null) refuse('too_deep', 'The text nests too deeply to be parsed', source.span(deep, deep));
}
