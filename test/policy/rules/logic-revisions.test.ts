import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALL_DEFINITIONS, ALL_EXTRACTORS } from './support/all-definitions';
import { closureOf, fileOfRule, sourceSha, sourcesUnder } from './support/source-digest';

/**
 * Pins each rule's source to its `logicRevision` (T12). After a change of logic: raise the revision beside the rule (or
 * `SQL_FACTS_REVISION` for the extractor), then `UPDATE_LOGIC=1 npx jest test/policy/rules/logic-revisions`. It refuses to
 * write a changed source under an unchanged revision.
 */
interface Pin {
  readonly logicRevision: number;
  readonly sourceSha: string;
}

const PINS = join(__dirname, 'logic-revisions.json');
const pinned: Readonly<Record<string, Pin>> = existsSync(PINS)
  ? (JSON.parse(readFileSync(PINS, 'utf8')) as Record<string, Pin>)
  : {};

/** Definitions that share a file have one closure. */
const pinOf = new Map<string, string>();
function ruleSha(name: string): string {
  const file = fileOfRule(
    name,
    ['policy/rules', 'policy/validators', 'policy/judge'].filter((folder) => existsSync(folder)),
  );
  const known = pinOf.get(file) ?? sourceSha(closureOf(file, 'policy/rules', 'policy/validators', 'policy/judge'));
  pinOf.set(file, known);
  return known;
}

const current: Readonly<Record<string, Pin>> = Object.fromEntries(
  [
    ...ALL_DEFINITIONS.map(
      (d) => [d.implementation, { logicRevision: d.logicRevision, sourceSha: ruleSha(d.implementation) }] as const,
    ),
    ...ALL_EXTRACTORS.map(
      (e) =>
        [
          e.name,
          { logicRevision: e.revision, sourceSha: sourceSha([...new Set(e.sources.flatMap(sourcesUnder))]) },
        ] as const,
    ),
  ].sort(([a], [b]) => (a < b ? -1 : 1)),
);

/** Names whose source changed while their revision did not. */
function unraised(before: Readonly<Record<string, Pin>>, now: Readonly<Record<string, Pin>>): readonly string[] {
  return Object.keys(now).filter((name) => {
    const old = before[name];
    return (
      old !== undefined &&
      old.sourceSha !== now[name]?.sourceSha &&
      old.logicRevision >= (now[name]?.logicRevision ?? 0)
    );
  });
}

it('fails where a rule’s source changed and its logicRevision was not raised [T12]', () => {
  expect(unraised(pinned, current)).toEqual([]);
});

it('holds a pin for exactly the rules that exist, at their revision [T12]', () => {
  if (process.env['UPDATE_LOGIC'] === '1' && unraised(pinned, current).length === 0) {
    writeFileSync(PINS, `${JSON.stringify(current, null, 2)}\n`);
    return;
  }
  expect(pinned).toEqual(current);
});

it('tells a changed source under an old revision from one whose revision was raised [T12]', () => {
  const pin = (logicRevision: number, sha: string): Record<string, Pin> => ({
    rule: { logicRevision, sourceSha: sha },
  });
  expect(unraised(pin(1, 'a'), pin(1, 'b'))).toEqual(['rule']);
  expect(unraised(pin(2, 'a'), pin(1, 'b'))).toEqual(['rule']);
  expect(unraised(pin(1, 'a'), pin(2, 'b'))).toEqual([]);
  expect(unraised(pin(1, 'a'), pin(1, 'a'))).toEqual([]);
});

it('counts the helpers that a rule’s file imports as its source, and not the types', () => {
  const closure = closureOf('source-tools/sql/rules/where.ts', 'policy/rules');
  expect(closure).toContain('source-tools/sql/rules/define-sql-rule.ts');
  expect(closure).toContain('policy/rules/define.ts');
  expect(closure).not.toContain('source-tools/sql/facts/sql-facts.ts');
});
