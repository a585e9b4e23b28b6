/**
 * Single mutations of an evidence bundle, derived from a seed. None of them may pass `verify`.
 *
 * There are two kinds of attacker. `file` damages the bytes of the file. `forger` changes one JSON value, then writes the
 * bundle in canonical form again with a matching checksum, so that neither the formatting nor the checksum reveals the
 * change: every member must be protected by a signature or a hash.
 */
import { canonicalJson } from '../policy/contracts/canonical-json';
import { evidenceChecksum, type EvidenceBundle } from '../policy/evidence/bundle';
import type { SeededRandom } from './seeded-random';

export interface Mutation {
  readonly attacker: 'file' | 'forger';
  readonly kind: string;
  /** Byte offset or JSON pointer. */
  readonly place: string;
  readonly text: Uint8Array;
}

/** One random mutation of the file. Mutations that would change nothing are drawn again. */
export function mutate(text: string, roll: SeededRandom): Mutation {
  for (;;) {
    const mutation = roll(3) === 0 ? mutateFile(text, roll) : mutateValue(text, roll);
    if (mutation !== null && new TextDecoder().decode(mutation.text) !== text) return mutation;
  }
}

function mutateFile(text: string, roll: SeededRandom): Mutation {
  const bytes = new TextEncoder().encode(text);
  const at = roll(bytes.length);
  const mutation = (kind: string, mutated: Uint8Array): Mutation => ({
    attacker: 'file',
    kind,
    place: `byte ${at}`,
    text: mutated,
  });
  switch (roll(5)) {
    case 0:
      return mutation('truncate', bytes.slice(0, at));
    case 1:
      return mutation('remove byte', Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1)]));
    case 2:
      return mutation('double byte', Uint8Array.from([...bytes.subarray(0, at + 1), ...bytes.subarray(at)]));
    case 3: {
      const other = roll(bytes.length);
      const swapped = bytes.slice();
      [swapped[at], swapped[other]] = [bytes[other] ?? 0, bytes[at] ?? 0];
      return mutation('swap bytes', swapped);
    }
    default: {
      const flipped = bytes.slice();
      flipped[at] = (bytes[at] ?? 0) ^ (1 << roll(8));
      return mutation('flip bit', flipped);
    }
  }
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

interface Place {
  readonly parent: Json[] | { [key: string]: Json };
  readonly key: string | number;
  readonly pointer: string;
}

function mutateValue(text: string, roll: SeededRandom): Mutation | null {
  const bundle = JSON.parse(text) as { [key: string]: Json };
  const places: Place[] = [];
  collect(bundle, '', places);
  const place = places[roll(places.length)];
  if (place === undefined) return null;
  const kind = changeAt(place, roll);
  if (kind === null) return null;
  bundle['sha256'] = evidenceChecksum(bundle as unknown as EvidenceBundle);
  return {
    attacker: 'forger',
    kind,
    place: place.pointer,
    text: new TextEncoder().encode(`${canonicalJson(bundle)}\n`),
  };
}

function collect(value: Json, pointer: string, places: Place[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    if (pointer === '' && key === 'sha256') continue; // The checksum is recomputed.
    const place = Array.isArray(value)
      ? { parent: value, key: Number(key), pointer: `${pointer}/${key}` }
      : { parent: value, key, pointer: `${pointer}/${key}` };
    places.push(place);
    collect((value as { [key: string]: Json })[key] ?? null, place.pointer, places);
  }
}

/** Mutates one place and returns the kind of mutation, or null if the drawn mutation does not apply there. */
function changeAt(place: Place, roll: SeededRandom): string | null {
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

function reorder({ parent, key }: Place, roll: SeededRandom): string | null {
  const keys = Object.keys(parent).filter((other) => other !== 'sha256');
  const other = keys[roll(keys.length)];
  if (other === undefined) return null;
  const values = parent as { [key: string]: Json };
  [values[key], values[other]] = [values[other] ?? null, values[key] ?? null];
  return Array.isArray(parent) ? 'swap elements' : 'swap members';
}

function changed(value: Json, roll: SeededRandom): Json {
  if (typeof value === 'string') return changedText(value, roll);
  if (typeof value === 'number') return roll(2) === 0 ? value + 1 : value - 1;
  if (typeof value === 'boolean') return !value;
  if (value === null) return '0'.repeat(64);
  if (Array.isArray(value)) return value.slice(0, roll(Math.max(1, value.length)));
  const kept = Object.entries(value).slice(0, roll(Math.max(1, Object.keys(value).length)));
  return Object.fromEntries(kept);
}

/** Replaces a character with another of the same alphabet if possible, so that the value is wrong but its format is valid. */
function changedText(text: string, roll: SeededRandom): string {
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
