import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { judgeDefinition } from '../../../policy/judge/config';
import { RENDERER_REVISION } from '../../../policy/judge/document';
import { MARKERS_REVISION } from '../../../policy/text/injection-markers';
import { PROMPT_REVISION } from '../../../policy/judge/prompt';
import { ANSWER_PARSER_REVISION } from '../../../policy/judge/read-answer';
import { REDACTOR_REVISION } from '../../../policy/judge/secrets';
import { closureOf, sourceSha } from '../rules/support/source-digest';

/**
 * Pins the source of each part of the judge to the revision that `logic_hash` covers (T12). After a change of what a part
 * does: raise its revision, then `UPDATE_LOGIC=1 npx jest test/policy/judge/revisions`. Where the part does the same on
 * every input, delete the pin first.
 */
const PINS = join(__dirname, 'revisions.json');

interface Pin {
  readonly revision: string;
  readonly sourceSha: string;
}

const sources = (...files: string[]): string =>
  sourceSha([...new Set(files.flatMap((file) => closureOf(file, 'policy/judge')))].sort());
const current: Readonly<Record<string, Pin>> = {
  answer: {
    revision: String(ANSWER_PARSER_REVISION),
    sourceSha: sources('policy/judge/read-answer.ts', 'policy/judge/conclude.ts'),
  },
  judgement: {
    revision: String(judgeDefinition.logicRevision),
    sourceSha: sources('policy/judge/judgement.ts', 'policy/judge/pieces.ts'),
  },
  markers: { revision: String(MARKERS_REVISION), sourceSha: sources('policy/judge/injection-markers.ts') },
  prompt: {
    revision: String(PROMPT_REVISION),
    sourceSha: sources('policy/judge/prompt.ts', 'policy/judge/wire.ts', 'policy/judge/default-policies.ts'),
  },
  redactor: {
    revision: String(REDACTOR_REVISION),
    sourceSha: sourceSha(closureOf('policy/judge/redact.ts', 'policy/judge', 'policy/rules')),
  },
  renderer: {
    revision: RENDERER_REVISION,
    sourceSha: sources('policy/judge/document.ts', 'policy/judge/render/renderers.ts'),
  },
};
const pinned = existsSync(PINS) ? (JSON.parse(readFileSync(PINS, 'utf8')) as Record<string, Pin>) : {};

/** All are written together, so that one that may be written opens the door for no other. */
const mayWrite = Object.entries(current).every(([name, now]) => {
  const before = pinned[name];
  return before === undefined || before.sourceSha === now.sourceSha || before.revision !== now.revision;
});

test.each(Object.keys(current))('an edit of the %s needs another revision [G18, T12]', (name) => {
  if (process.env['UPDATE_LOGIC'] === '1' && mayWrite) {
    writeFileSync(PINS, `${JSON.stringify(current, null, 2)}\n`);
    return;
  }
  expect(current[name]).toEqual(pinned[name]);
});
