import type { Random } from './random';

const JSON_TOOLS = new Set(['SQLCAS', 'HTTPPatch', 'TerraformPlan']);
/** Characters that hide or reorder text, look like others, or end it. */
const ODD = ['\u202e', '\u200b', '\u0430', '\0', '\u00ad', '\ufeff', '\u{1f600}', '\t', '\r', '\u2028', "'", '"', '$$'];
const NUMBERS = ['0', '1', '-1', '7', '1000', '2147483648', '1e9', '0x10'];
const NAMES = ['role', 'password', '__proto__', 'tags', 'url', 'url2'];

/** Another diff of the same tool, made of `text` and of pieces of `others`. Most stay readable, some break. */
export function mutated(random: Random, sourceTool: string, text: string, others: readonly string[]): string {
  let result = text;
  for (let left = random.pick([1, 1, 2, 3]); left > 0; left--) {
    const other = random.pick(others);
    if (random.chance(0.1)) result = mutatedText(random, result, other);
    else if (JSON_TOOLS.has(sourceTool)) result = mutatedJson(random, result, other);
    else if (sourceTool === 'GitPatch') result = mutatedPatch(random, result, other);
    else if (random.chance(0.3)) result = `${result}${sourceTool === 'SQLDryRun' ? ';' : ''}\n${other}`;
    else result = random.chance(0.6) ? withOtherWords(random, result, other) : mutatedText(random, result, other);
  }
  return result;
}

const tokensOf = (text: string): string[] => text.match(/\w+|\s+|[^\w\s]/gu) ?? [];

/** Replaces up to five tokens with tokens of the other text, the same tokens in upper case, a number, or an odd character. */
function mutatedText(random: Random, text: string, other: string): string {
  const [tokens, donors] = [tokensOf(text), tokensOf(other)];
  const [at, from] = [random.below(tokens.length + 1), random.below(donors.length + 1)];
  const length = random.below(6);
  const pieces = [
    donors.slice(from, from + 1 + random.below(6)),
    tokens.slice(at, at + length).map((token) => token.toUpperCase()),
    [random.pick(NUMBERS)],
    [random.pick(ODD)],
    [],
  ];
  tokens.splice(at, length, ...random.pick(pieces));
  return tokens.join('');
}

/** Replaces a name by a name or a number by a number: what could be read before mostly still can be. */
function withOtherWords(random: Random, text: string, other: string): string {
  const tokens = tokensOf(text);
  const kind = random.pick([/^[a-z_]\w*$/, /^\d+$/, /^[A-Z]+$/]);
  const wanted = tokensOf(other).filter((token) => kind.test(token));
  const places = [...tokens.keys()].filter((i) => kind.test(tokens[i] ?? ''));
  if (wanted.length > 0 && places.length > 0) tokens[random.pick(places)] = random.pick(wanted);
  return tokens.join('');
}

const isAdded = (line: string): boolean => /^\+(?!\+\+)/.test(line);

/** Joins patches, or changes modes, names and added lines. Counts of lines stay right, so most can still be read. */
function mutatedPatch(random: Random, text: string, other: string): string {
  const nameIn = (patch: string): string => /^diff --git a\/(\S+) /m.exec(patch)?.[1] ?? 'file';
  const lines = text.split('\n');
  const places = [...lines.keys()].filter((i) => isAdded(lines[i] ?? ''));
  const wanted = other.split('\n').filter(isAdded);
  switch (random.below(5)) {
    case 0:
      return `${text.replace(/\n?$/, '\n')}${other}`;
    case 1:
      return text.replaceAll(nameIn(text), nameIn(other));
    case 2:
      return text.replace(/100644|100755|120000/, random.pick(['100644', '100755', '120000', '160000', '040000']));
    default: {
      if (places.length === 0) return mutatedText(random, text, other);
      const at = random.pick(places);
      const changed = `+${mutatedText(random, lines[at]?.slice(1) ?? '', other).replaceAll('\n', ' ')}`;
      lines[at] = wanted.length > 0 && random.chance(0.6) ? random.pick(wanted) : changed;
      return lines.join('\n');
    }
  }
}

type Holder = { [key: string]: unknown };
interface Place {
  readonly holder: Holder;
  readonly key: string;
}

/** Removes, repeats, renames or replaces a value. Mostly another value of its type replaces it, which keeps the form. */
function mutatedJson(random: Random, text: string, other: string): string {
  const document = { root: parsed(text) };
  const donor = parsed(other);
  if (document.root === undefined || donor === undefined) return mutatedText(random, text, other);
  const { holder, key } = random.pick(placesIn(document));
  const value = holder[key];
  const values = placesIn({ donor }).map((place) => place.holder[place.key]);
  const sameType = values.filter((one) => typeof one === typeof value);
  if (random.chance(0.6)) holder[key] = random.pick(sameType.length > 0 ? sameType : values);
  else if (typeof value === 'string' && random.chance(0.5)) holder[key] = mutatedText(random, value, value);
  else if (Array.isArray(holder))
    holder.splice(Number(key), random.below(2), ...random.pick([[], [value, value], [null]]));
  else if (random.chance(0.5)) holder[key] = random.pick([...values, null, '', [], {}, 'admin', 0, true]);
  else {
    delete holder[key];
    if (random.chance(0.6)) holder[random.pick(NAMES)] = value;
  }
  return JSON.stringify(document.root) ?? '';
}

/** Deeply nested JSON, which costs much and says little. */
export const isDeep = (text: string): boolean => /(?:\[|\{"\w*":){100}/.test(text);

/** Undefined if it is not JSON, or nested so deeply that walking it would overflow the stack. */
function parsed(text: string): unknown {
  if (isDeep(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Every value below the holder. */
function placesIn(holder: object): readonly Place[] {
  return Object.entries(holder).flatMap(([key, value]: [string, unknown]) => {
    const here = { holder: holder as Holder, key };
    return typeof value === 'object' && value !== null ? [here, ...placesIn(value)] : [here];
  });
}

/** Bytes of the text, at times broken: flipped, cut or not UTF-8. */
export function brokenBytes(random: Random, bytes: Uint8Array): Uint8Array {
  const result = bytes.slice();
  const at = random.below(result.length);
  if (random.chance(0.3)) return result.slice(0, at);
  if (result.length > 0) result[at] = random.pick([0x80, 0xff, 0xc0, 0xed, 0x00, random.below(256)]);
  return result;
}
