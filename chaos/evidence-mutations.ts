/**
 * Single changes to an evidence bundle, from a seed. None may pass `verify`.
 *
 * Two hands: `file` damages the text as it lies there. `forger` changes one thing in what the text says, then writes it out
 * again in canonical form with a checksum that fits: so neither spelling nor checksum helps, and every member must be bound
 * by something of its own.
 */
import { canonicalJson } from '../policy/contracts/canonical-json';
import { evidenceChecksum, type EvidenceBundle } from '../policy/evidence/bundle';
import type { Dice } from './dice';

export interface Mutation {
  readonly hand: 'file' | 'forger';
  readonly kind: string;
  /** Where: an offset, or a JSON pointer. */
  readonly place: string;
  readonly text: Uint8Array;
}

/** One mutation of the file; another one where the first would have changed nothing. */
export function mutate(text: string, roll: Dice): Mutation {
  for (;;) {
    const made = roll(3) === 0 ? mutateFile(text, roll) : mutateValue(text, roll);
    if (made !== null && new TextDecoder().decode(made.text) !== text) return made;
  }
}

function mutateFile(text: string, roll: Dice): Mutation {
  const bytes = new TextEncoder().encode(text);
  const at = roll(bytes.length);
  const made = (kind: string, mutated: Uint8Array): Mutation => ({
    hand: 'file',
    kind,
    place: `byte ${at}`,
    text: mutated,
  });
  switch (roll(5)) {
    case 0:
      return made('truncate', bytes.slice(0, at));
    case 1:
      return made('remove byte', Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1)]));
    case 2:
      return made('double byte', Uint8Array.from([...bytes.subarray(0, at + 1), ...bytes.subarray(at)]));
    case 3: {
      const other = roll(bytes.length);
      const swapped = bytes.slice();
      [swapped[at], swapped[other]] = [bytes[other] ?? 0, bytes[at] ?? 0];
      return made('swap bytes', swapped);
    }
    default: {
      const flipped = bytes.slice();
      flipped[at] = (bytes[at] ?? 0) ^ (1 << roll(8));
      return made('flip bit', flipped);
    }
  }
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

interface Place {
  readonly parent: Json[] | { [key: string]: Json };
  readonly key: string | number;
  readonly pointer: string;
}

function mutateValue(text: string, roll: Dice): Mutation | null {
  const bundle = JSON.parse(text) as { [key: string]: Json };
  const places: Place[] = [];
  collect(bundle, '', places);
  const place = places[roll(places.length)];
  if (place === undefined) return null;
  const kind = changeAt(place, roll);
  if (kind === null) return null;
  bundle['sha256'] = evidenceChecksum(bundle as unknown as EvidenceBundle);
  return { hand: 'forger', kind, place: place.pointer, text: new TextEncoder().encode(`${canonicalJson(bundle)}\n`) };
}

function collect(value: Json, pointer: string, places: Place[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    if (pointer === '' && key === 'sha256') continue; // It is made anew.
    const place = Array.isArray(value)
      ? { parent: value, key: Number(key), pointer: `${pointer}/${key}` }
      : { parent: value, key, pointer: `${pointer}/${key}` };
    places.push(place);
    collect((value as { [key: string]: Json })[key] ?? null, place.pointer, places);
  }
}

/** Changes the one place, and says how; null where this roll has nothing to do there. */
function changeAt(place: Place, roll: Dice): string | null {
  const parent = place.parent as { [key: string]: Json };
  const value = parent[place.key] ?? null;
  switch (roll(4)) {
    case 0:
      if (Array.isArray(place.parent)) place.parent.splice(Number(place.key), 1);
      else delete parent[place.key];
      return 'remove';
    case 1:
      return reorder(place, roll);
    case 2:
      if (Array.isArray(place.parent)) {
        place.parent.splice(Number(place.key), 0, structuredClone(value));
        return 'repeat element';
      }
      return null;
    default:
      parent[place.key] = changed(value, roll);
      return `change ${Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value}`;
  }
}

function reorder({ parent, key }: Place, roll: Dice): string | null {
  const keys = Object.keys(parent).filter((other) => other !== 'sha256');
  const other = keys[roll(keys.length)];
  if (other === undefined) return null;
  const values = parent as { [key: string]: Json };
  [values[key], values[other]] = [values[other] ?? null, values[key] ?? null];
  return Array.isArray(parent) ? 'swap elements' : 'swap members';
}

function changed(value: Json, roll: Dice): Json {
  if (typeof value === 'string') return changedText(value, roll);
  if (typeof value === 'number') return roll(2) === 0 ? value + 1 : value - 1;
  if (typeof value === 'boolean') return !value;
  if (value === null) return '0'.repeat(64);
  if (Array.isArray(value)) return value.slice(0, roll(Math.max(1, value.length)));
  const kept = Object.entries(value).slice(0, roll(Math.max(1, Object.keys(value).length)));
  return Object.fromEntries(kept);
}

/** Another letter of the same alphabet where there is one, so that what is wrong is the value and not its form. */
function changedText(text: string, roll: Dice): string {
  if (text === '') return 'x';
  const at = roll(text.length);
  switch (roll(4)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return `${text}${text[at] ?? ''}`;
    default: {
      const alphabet =
        ['0123456789', 'abcdef', 'ghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].find((a) =>
          a.includes(text[at] ?? ''),
        ) ?? 'xyz';
      return `${text.slice(0, at)}${alphabet[roll(alphabet.length)] ?? 'x'}${text.slice(at + 1)}`;
    }
  }
}
