import { shown } from '../../../policy/text/shown-name';
import { defineSqlRule } from './define-sql-rule';
import type { SettingFact } from '../facts/sql-facts';

/** Settings that change how the server tokenizes later text, with the values under which it agrees with the parser used for the facts. */
const SAFE_VALUES: ReadonlyMap<string, readonly string[]> = new Map([
  ['standard_conforming_strings', ['on', 'true', 'yes', '1']],
  ['client_encoding', ['utf8', 'utf-8', 'unicode']],
  ['backslash_quote', ['safe_encoding']],
]);

/** `*` means any setting, so it is not safe. */
function isSafe(s: SettingFact): boolean {
  if (s.name === '*') return false;
  const safe = SAFE_VALUES.get(s.name);
  return safe === undefined || (s.change === 'set' && s.value !== null && safe.includes(s.value.toLowerCase()));
}

export const lexerSettings = defineSqlRule({
  name: 'sql_lexer_settings',
  logicRevision: 4,
  defaultLevel: 'forbid',
  why: 'The server would tokenize later text differently from the parser that checked it.',
  examples: {
    bad: "SELECT set_config('standard_conforming_strings', 'off', false)",
    good: "SET client_encoding = 'UTF8'; SET standard_conforming_strings = on",
  },
  find: ({ settings }) =>
    settings
      .filter((s) => !isSafe(s))
      .map((s) => ({ at: s, what: `${s.change.toUpperCase()} ${shown(s.name)} (${s.scope})` })),
});
