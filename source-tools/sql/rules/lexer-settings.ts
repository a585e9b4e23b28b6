import { shown } from '../../../policy/text/shown-name';
import { defineSqlRule, noConfig } from './define-sql-rule';
import type { SettingFact } from '../facts/sql-facts';

/** Settings that change how the server reads the next text, with the values under which it reads as our parser does. */
const LEXER: ReadonlyMap<string, readonly string[]> = new Map([
  ['standard_conforming_strings', ['on', 'true', 'yes', '1']],
  ['client_encoding', ['utf8', 'utf-8', 'unicode']],
  ['backslash_quote', ['safe_encoding']],
]);

/** `*` stands for any setting, so for these too. */
function harmless(s: SettingFact): boolean {
  if (s.name === '*') return false;
  const same = LEXER.get(s.name);
  return same === undefined || (s.change === 'set' && s.value !== null && same.includes(s.value.toLowerCase()));
}

export const lexerSettings = defineSqlRule({
  name: 'sql_lexer_settings',
  logicRevision: 2,
  defaultLevel: 'forbid',
  why: 'The next text would be cut into other tokens by the server than by the parser that checked it.',
  config: noConfig,
  examples: {
    bad: "SELECT set_config('standard_conforming_strings', 'off', false)",
    good: "SET client_encoding = 'UTF8'; SET standard_conforming_strings = on",
  },
  find: ({ settings }) =>
    settings
      .filter((s) => !harmless(s))
      .map((s) => ({ at: s, what: `${s.change.toUpperCase()} ${shown(s.name)} (${s.scope})` })),
});
