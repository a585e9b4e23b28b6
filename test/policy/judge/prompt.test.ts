import { DEFAULT_POLICIES } from '../../../policy/judge/default-policies';
import { makeDocument } from '../../../policy/judge/document';
import { splitDocument } from '../../../policy/judge/pieces';
import { instructions, promptSha, userMessage } from '../../../policy/judge/prompt';
import { ourTools, plainTool } from '../../support/source-tools';

const NONCE = '0123456789abcdef';

/** Every message about the diff, with the header reduced to the members that vary. */
function messages(sourceTool: string, diff: string, byteBudget = 98_304, metadata = {}): string[] {
  const renderer = (ourTools.get(sourceTool) ?? plainTool).render;
  const made = makeDocument({
    raw: new TextEncoder().encode(diff),
    maxBytes: 2 ** 20,
    metadata,
    renderer,
    metadataKeys: ['affected_rows'],
    proseKeys: ['rationale'],
  });
  if (!made.ok) throw new Error(made.reason);
  const split = splitDocument(made.document, byteBudget, 8);
  if (!split.ok) throw new Error(split.reason);
  return split.pieces.map((piece, index) => {
    const text = userMessage({
      document: made.document,
      piece,
      index,
      pieces: split.pieces.length,
      nonce: NONCE,
      sourceTool,
      policyIds: ['a', 'b'],
    });
    const [header = '', ...lines] = text.replaceAll(`\u27e6${NONCE}\u27e7`, '#').split('\n');
    const {
      piece: shown,
      redactions,
      invisibleCharacters,
    } = JSON.parse(header) as { piece: object; redactions: object; invisibleCharacters: number };
    return [JSON.stringify([shown, redactions, invisibleCharacters]), ...lines].join('\n');
  });
}

describe('userMessage, golden', () => {
  it('of SQL, with claims and prose', () => {
    expect(
      messages('SQLDryRun', "UPDATE users\n\tSET password = 'hunter2-xyz' -- \u202eevil\n WHERE id = 7;\n", 98_304, {
        affected_rows: 1,
        rationale: 'Ignore\nthis',
      }),
    ).toEqual([
      [
        '[{"firstLine":1,"index":1,"lastLine":3,"lines":3,"of":1},{"password":1},1]',
        '#M1│affected_rows = 1',
        '#P1│rationale = "Ignore\\nthis"',
        '#1│UPDATE users',
        "#2│\tSET password = '[SECRET:password:1]' -- \u27e6U+202E\u27e7evil",
        '#3│ WHERE id = 7;',
      ].join('\n'),
    ]);
  });

  it('of an SQLCAS change', () => {
    expect(messages('SQLCAS', '{"rows":[{"table":"orders","key":{"id":7},"set":{"note":"\\u0064rop"}}]}')).toEqual([
      [
        '[{"firstLine":1,"index":1,"lastLine":13,"lines":13,"of":1},{},0]',
        '#1│{',
        '#2│  "rows": [',
        '#3│    {',
        '#4│      "table": "orders",',
        '#5│      "key": {',
        '#6│        "id": 7',
        '#7│      },',
        '#8│      "set": {',
        '#9│        "note": "drop"',
        '#10│      }',
        '#11│    }',
        '#12│  ]',
        '#13│}',
      ].join('\n'),
    ]);
  });

  it('of a patch in two pieces, the second with the header of its file', () => {
    const patch = [
      'diff --git a/x b/x',
      '--- a/x',
      '+++ b/x',
      '@@ -1 +1 @@',
      '-a',
      '+b',
      '@@ -9 +9 @@',
      '-c',
      '+d',
    ].join('\n');
    expect(messages('GitPatch', patch, 280)).toEqual([
      [
        '[{"firstLine":1,"index":1,"lastLine":6,"lines":9,"of":2},{},0]',
        '#1│diff --git a/x b/x',
        '#2│--- a/x',
        '#3│+++ b/x',
        '#4│@@ -1 +1 @@',
        '#5│-a',
        '#6│+b',
      ].join('\n'),
      [
        '[{"firstLine":7,"index":2,"lastLine":9,"lines":9,"of":2},{},0]',
        '#1│diff --git a/x b/x',
        '#2│--- a/x',
        '#3│+++ b/x',
        '#7│@@ -9 +9 @@',
        '#8│-c',
        '#9│+d',
      ].join('\n'),
    ]);
  });

  it('of a wrapped line, with the next number and a plus', () => {
    const [message = ''] = messages('SQLDryRun', `SELECT '${'x'.repeat(1500)}';`);
    expect(
      message
        .split('\n')
        .slice(1)
        .map((line) => line.slice(0, 8)),
    ).toEqual(['#1│SELEC', '#2+│xxxx']);
  });
});

describe('instructions', () => {
  it('depend on the policies only', () => {
    expect(promptSha(DEFAULT_POLICIES)).toBe(promptSha([...DEFAULT_POLICIES]));
    expect(promptSha(DEFAULT_POLICIES)).not.toBe(promptSha(DEFAULT_POLICIES.slice(1)));
    expect(instructions(DEFAULT_POLICIES).split('\n\n')[0]).toMatch(/^You are one of several independent reviewers/);
  });
});
