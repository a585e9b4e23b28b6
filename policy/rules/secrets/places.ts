import { foldAscii } from '../../text/fold-ascii';
import { byTrigram, nextTrigram, TRIGRAMS, trigramOf } from '../../text/trigrams';
import { FORMATS, type TokenFormat } from './formats';
import { BROAD_STEMS, STEMS } from './names';
import { SERVICE_WORDS } from './services';

/** Positions where a secret or its name may start, ascending. Only candidates: the callers check the text there. */
export interface Places {
  /** The first three units of a known token prefix, in any case. */
  readonly tokens: readonly number[];
  /** A word that identifies a service. */
  readonly services: readonly number[];
  /** A word part of sensitive names (`STEMS`). */
  readonly names: readonly number[];
  /** A word part of names that the judge's redactor treats as sensitive (`BROAD_STEMS`). */
  readonly broad: readonly number[];
}

const SERVICE_AT = byTrigram(SERVICE_WORDS);
const STEM_AT = byTrigram(STEMS);
const BROAD_AT = byTrigram(BROAD_STEMS);
const FORMAT_AT = new Map<number, TokenFormat[]>();
for (const format of FORMATS) {
  // A prefix of two units may be followed by any third unit.
  const ends = format.prefix.length > 2 ? [''] : Array.from({ length: 32 }, (_, i) => String.fromCharCode(i));
  for (const end of ends) {
    const trigram = trigramOf(format.prefix + end);
    FORMAT_AT.set(trigram, [...(FORMAT_AT.get(trigram) ?? []), format]);
  }
}

const TOKENS = 1;
const SERVICES = 2;
const NAMES = 4;
const BROAD = 8;
const GROUPS = new Uint8Array(TRIGRAMS);
for (const [group, words] of [
  [TOKENS, FORMAT_AT],
  [SERVICES, SERVICE_AT],
  [NAMES, STEM_AT],
  [BROAD, BROAD_AT],
] as const)
  for (const trigram of words.keys()) GROUPS[trigram] = (GROUPS[trigram] as number) | group;

/** The formats that may begin at a place of `tokens`. */
export function formatsAt(text: string, place: number): readonly TokenFormat[] {
  return FORMAT_AT.get(trigramOf(text.slice(place, place + 3))) ?? [];
}

/** Finds all candidates in one pass. Linear time and memory. */
export function placesIn(text: string): Places {
  const lower = foldAscii(text);
  const [tokens, services, names, broad]: [number[], number[], number[], number[]] = [[], [], [], []];
  let [serviceEnd, nameEnd, trigram] = [0, 0, 0];
  for (let i = 0; i < lower.length; i++) {
    trigram = nextTrigram(trigram, lower.charCodeAt(i));
    const groups = GROUPS[trigram] as number;
    // Fast path for most units.
    if (groups === 0 || i < 2) continue;
    const place = i - 2;
    if ((groups & TOKENS) !== 0) tokens.push(place);
    if ((groups & SERVICES) !== 0 && place >= serviceEnd) {
      const end = endOfWord(SERVICE_AT.get(trigram), lower, place);
      if (end > place) services.push(place);
      serviceEnd = end;
    }
    if ((groups & NAMES) !== 0 && place >= nameEnd) {
      const end = endOfWord(STEM_AT.get(trigram), lower, place);
      if (end > place) names.push(place);
      nameEnd = end;
    }
    if ((groups & BROAD) !== 0 && endOfWord(BROAD_AT.get(trigram), lower, place) > place) broad.push(place);
  }
  return { tokens, services, names, broad };
}

/** End of the first of the words that starts at `place`; `place` if none does. */
function endOfWord(words: readonly string[] | undefined, lower: string, place: number): number {
  for (const word of words ?? []) if (lower.startsWith(word, place)) return place + word.length;
  return place;
}
