import { contentSha } from '../../activities/review/derivation';
import { sha256Hex } from '../../policy/contracts/hash';
import { extensionsOf } from '../../workers/extensions';

const { sourceTools } = extensionsOf();

function sha(sourceTool: string, text: string): Promise<string> {
  const raw = new TextEncoder().encode(text);
  return contentSha(sourceTools, { sourceTool, raw, diffSha: sha256Hex(raw), metadata: {} });
}

const PATCH = `diff --git a/x b/x
index 1111111..2222222 100644
--- a/x
+++ b/x
@@ -1,2 +1,2 @@ function f() {
 one
-two
+three
`;

/** A file section without a `diff --git` line. */
const PLAIN = '--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n';

test.each([
  [
    'SQLDryRun',
    `update orders set status = 'paid' where id in (1, 2)`,
    `/* new */ UPDATE  orders\nSET status='paid' -- why\nWHERE id IN (1,2);\n`,
  ],
  ['SQLCAS', '{"rows":[{"table":"a","key":{"id":1}}]}', '{ "rows": [ { "key": { "id": 1 }, "table": "a" } ] }\n'],
  ['HTTPPatch', '{"method":"PATCH","url":"https://a/b"}', '{"url": "https://a/b", "method": "PATCH"}'],
  ['TerraformPlan', '{"a":[1,2]}', '{ "a": [1, 2] }'],
  ['GitPatch', PATCH, `Please apply\n\n${PATCH.replace('1111111', '3333333').replace('function f() {', 'class C')}`],
])('%s: a change has the same content, however it is written', async (tool, text, again) => {
  expect(await sha(tool, again)).toBe(await sha(tool, text));
});

test.each([
  ['SQLDryRun', 'delete from a where id = 1', 'delete from a where id = 2'],
  ['SQLDryRun', `update a set x = 'A'`, `update a set x = 'a'`],
  ['SQLDryRun', 'delete form a', 'delete  form a'],
  ['SQLCAS', '{"a":1}', '{"a":2}'],
  ['HTTPPatch', '{"a":"1"}', '{"a":1}'],
  ['GitPatch', PATCH, PATCH.replace('+three', '+ three')],
  ['GitPatch', `${PLAIN}${PATCH}`, `${PLAIN.replace('+b', '+c')}${PATCH}`],
])('%s: another change has another content', async (tool, text, other) => {
  expect(await sha(tool, other)).not.toBe(await sha(tool, text));
});
