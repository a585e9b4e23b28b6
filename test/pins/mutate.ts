import type { Random } from './random';

const JSON_TOOLS = new Set(['SQLCAS', 'HTTPPatch', 'TerraformPlan']);
/** Characters that hide or reorder text, look like others, or end it. */
const ODD = [
  '\u202e',
  '\u200b',
  '\u0430',
  '\u0000',
  '\u00ad',
  '\ufeff',
  '\ud83d\ude00',
  '\t',
  '\r',
  '\u2028',
  "'",
  '"',
  '$$',
];

/** Another diff of the same tool, made of `text` and of pieces of `others`. Most stay readable, some break. */
export function mutated(random: Random, sourceTool: string, text: string, others: readonly string[]): string {
  let result = text;
  for (let left = random.pick([1, 1, 2, 3]); left > 0; left--) {
    if (random.chance(0.1)) result = mutatedText(random, sourceTool, result, others);
    else if (JSON_TOOLS.has(sourceTool)) result = mutatedJson(random, result, others);
    else if (sourceTool === 'GitPatch') result = mutatedPatch(random, result, others);
    else if (random.chance(0.7)) result = withOtherWords(random, sourceTool, result, others);
    else result = mutatedText(random, sourceTool, result, others);
  }
  return result;
}

const tokensOf = (text: string): string[] => text.match(/\w+|\s+|[^\w\s]/gu) ?? [];

function mutatedText(random: Random, sourceTool: string, text: string, others: readonly string[]): string {
  const tokens = tokensOf(text);
  const at = random.below(tokens.length + 1);
  const length = 1 + random.below(6);
  const other = tokensOf(random.pick(others));
  const from = random.below(other.length + 1);
  switch (random.below(8)) {
    case 0:
      tokens.splice(at, length);
      break;
    case 1:
      tokens.splice(at, 0, ...tokens.slice(at, at + length));
      break;
    case 2:
      tokens.splice(at, random.below(3), ...other.slice(from, from + length));
      break;
    case 3:
      tokens[at] = String(random.pick([0, 1, -1, 7, 1000, 2_147_483_648, '1e9', '0x10']));
      break;
    case 4:
      tokens[at] = random.chance(0.5) ? (tokens[at] ?? '').toUpperCase() : (tokens[at] ?? '').toLowerCase();
      break;
    case 5:
      tokens.splice(at, 0, random.pick(ODD));
      break;
    case 6:
      tokens[at] = other[from] ?? '';
      break;
    default:
      return sourceTool === 'SQLDryRun' ? `${text};\n${other.join('')}` : `${text}\n${other.join('')}`;
  }
  return tokens.join('');
}

/** Names for names and numbers for numbers, or two texts in a row: what could be read before mostly still can be. */
function withOtherWords(random: Random, sourceTool: string, text: string, others: readonly string[]): string {
  const other = random.pick(others);
  if (random.chance(0.3)) return `${text}${sourceTool === 'SQLDryRun' ? ';\n' : '\n'}${other}`;
  const tokens = tokensOf(text);
  const kind = random.pick([/^[a-z_]\w*$/, /^\d+$/, /^[A-Z]+$/]);
  const wanted = tokensOf(other).filter((token) => kind.test(token));
  const places = tokens.flatMap((token, i) => (kind.test(token) ? [i] : []));
  if (wanted.length === 0 || places.length === 0) return text;
  tokens[random.pick(places)] = random.pick(wanted);
  return tokens.join('');
}

/** Changes added lines, names and modes, and joins patches: counts of lines stay right, so most can still be read. */
function mutatedPatch(random: Random, text: string, others: readonly string[]): string {
  const lines = text.split('\n');
  const other = random.pick(others);
  const added = lines.flatMap((line, i) => (/^\+(?!\+\+)/.test(line) ? [i] : []));
  switch (random.below(5)) {
    case 0:
      return `${text.endsWith('\n') ? text : `${text}\n`}${other}`;
    case 1: {
      const [, name] = /^diff --git a\/(\S+) /m.exec(text) ?? [];
      const [, wanted] = /^diff --git a\/(\S+) /m.exec(other) ?? [];
      return name === undefined || wanted === undefined ? text : text.replaceAll(name, wanted);
    }
    case 2:
      return text.replace(/100644|100755|120000/, random.pick(['100644', '100755', '120000', '160000', '040000']));
    default: {
      if (added.length === 0) return mutatedText(random, 'GitPatch', text, others);
      const at = random.pick(added);
      const wanted = other.split('\n').filter((line) => /^\+(?!\+\+)/.test(line));
      const line = lines[at] ?? '+';
      lines[at] =
        wanted.length > 0 && random.chance(0.6)
          ? random.pick(wanted)
          : `+${mutatedText(random, 'GitPatch', line.slice(1), others).replaceAll('\n', ' ')}`;
      return lines.join('\n');
    }
  }
}

type Holder = { [key: string]: unknown } | unknown[];
interface Place {
  readonly holder: Holder;
  readonly key: string | number;
}

/** Takes out, doubles, renames and replaces members; what replaces them comes from other documents. */
function mutatedJson(random: Random, text: string, others: readonly string[]): string {
  const document = parsed(text);
  if (document === undefined) return mutatedText(random, 'json', text, others);
  const root: Holder = [document];
  const { holder, key } = random.pick(placesIn(root));
  if (random.chance(0.5)) {
    swapScalar(random, document, parsed(random.pick(others)));
    return JSON.stringify(document);
  }
  const donors = parsed(random.pick(others));
  const donor = donors === undefined ? null : valueAt(random.pick(placesIn([donors])));
  if (Array.isArray(holder) && holder !== root && random.chance(0.4)) {
    if (random.chance(0.3)) holder.splice(Number(key), 1);
    else holder.splice(Number(key), 0, random.chance(0.5) ? structuredClone(holder[Number(key)]) : donor);
  } else if (!Array.isArray(holder) && random.chance(0.3)) {
    const value = holder[key];
    delete holder[key];
    if (random.chance(0.6)) holder[random.pick(['role', 'password', '__proto__', 'tags', 'url', `${key}2`])] = value;
  } else {
    set(holder, key, random.chance(0.6) ? donor : changed(random, valueAt({ holder, key })));
  }
  return JSON.stringify(root[0] ?? null);
}

/** A value for another of the same type: the document mostly keeps a form that can be read. */
function swapScalar(random: Random, document: unknown, donor: unknown): void {
  const type = random.pick(['string', 'string', 'number', 'boolean']);
  const [places, wanted] = [document, donor].map((root) =>
    placesIn([root]).filter((place) => typeof valueAt(place) === type),
  );
  if (places === undefined || wanted === undefined || places.length === 0) return;
  const { holder, key } = random.pick(places);
  set(holder, key, wanted.length > 0 ? valueAt(random.pick(wanted)) : changed(random, valueAt({ holder, key })));
}

function changed(random: Random, value: unknown): unknown {
  if (typeof value === 'string')
    return random.chance(0.3) ? value + random.pick(ODD) : mutatedText(random, 'json', value, [value]);
  if (typeof value === 'number') return random.pick([0, -value, value * 1000, value + 0.5]);
  if (typeof value === 'boolean') return !value;
  return random.pick([null, true, '', [], {}, 'admin', 0]);
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

function placesIn(holder: Holder): readonly Place[] {
  const keys = Array.isArray(holder) ? holder.map((_, i) => i) : Object.keys(holder);
  return keys.flatMap((key): readonly Place[] => {
    const value = valueAt({ holder, key });
    const here = { holder, key };
    return typeof value === 'object' && value !== null ? [here, ...placesIn(value as Holder)] : [here];
  });
}

function valueAt({ holder, key }: Place): unknown {
  return Array.isArray(holder) ? holder[Number(key)] : holder[key];
}

function set(holder: Holder, key: string | number, value: unknown): void {
  if (Array.isArray(holder)) holder[Number(key)] = value;
  else holder[key] = value;
}

/** Bytes of the text, at times broken: flipped, cut or not UTF-8. */
export function brokenBytes(random: Random, bytes: Uint8Array): Uint8Array {
  const result = bytes.slice();
  const at = random.below(result.length);
  if (random.chance(0.3)) return result.slice(0, at);
  if (result.length > 0) result[at] = random.pick([0x80, 0xff, 0xc0, 0xed, 0x00, random.below(256)]);
  return result;
}
