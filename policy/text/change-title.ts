import { toWellFormed } from '../contracts/canonical-json';
import { clip } from './cut-text';
import { shown } from './shown-name';
import type { TableName } from './table-name';
import { makeVisible } from './visible';

/** In UTF-16 code units. */
export const MAX_TITLE = 120;
const MAX_PARTS = 3;

/** One line of at most MAX_TITLE characters. Control, bidirectional and invisible characters are written as `\u{202e}`. Idempotent. */
export function oneLineTitle(text: string): string {
  let line = '';
  for (const character of clip(toWellFormed(text), MAX_TITLE)) {
    const hidden = character === '\n' || character === '\t' || makeVisible(character) !== character;
    line += hidden ? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}` : character;
  }
  return clip(line, MAX_TITLE);
}

/** The first three parts, and how many follow: `a, b, c and 2 more`. */
export function joinParts(parts: readonly string[]): string {
  const more = parts.length - MAX_PARTS;
  return more <= 0 ? parts.join(', ') : `${parts.slice(0, MAX_PARTS).join(', ')} and ${more} more`;
}

/** A plain name unchanged; any other name quoted, so that it cannot imitate the text around it. */
function titleName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_$]*$/.test(name) ? name : shown(name);
}

export function titleTable({ schema, name }: TableName): string {
  return schema === null || schema === 'public' ? titleName(name) : `${titleName(schema)}.${titleName(name)}`;
}
