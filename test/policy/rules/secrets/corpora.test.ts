import { packDefinitions } from '../../../../source-tools';
import { secretCases, textOf } from '../../../quality/corpora/secrets';
import { fires } from '../support/run-pack-rule';

const secretsPack = packDefinitions.filter(({ pack }) => pack === 'secrets');
const cases = ['gitleaks-literal-cases.json', 'secretlint-cases.json'].flatMap((file) => secretCases(file) ?? []);
const itWithCorpora = cases.length === 0 ? it.skip : it;

describe('the secrets of the gitleaks and secretlint corpora', () => {
  itWithCorpora('are found equally in plain text, in the added lines of a patch and in JSON', () => {
    for (const c of cases.filter(({ expected }) => expected === 'violation')) {
      const text = textOf(c).replace(/\r?\n$/, '');
      const found = isFound(text, 'Own');
      expect([c.id, isFound(asPatch(text), 'GitPatch')]).toEqual([c.id, found]);
      if (found) expect([c.id, isFound(JSON.stringify({ body: text }), 'HTTPPatch')]).toEqual([c.id, true]);
    }
  });
});

function isFound(raw: string, sourceTool: string): boolean {
  return secretsPack
    .filter((rule) => rule.sourceTools === '*')
    .some((rule) => fires(rule.implementation, raw, { sourceTool }));
}

function asPatch(text: string): string {
  const lines = text.split('\n').map((line) => `+${line}`);
  const header = [
    'diff --git a/x.txt b/x.txt',
    'new file mode 100644',
    'index 0000000..8c3482d',
    '--- /dev/null',
    '+++ b/x.txt',
  ];
  return [...header, `@@ -0,0 +1,${lines.length} @@`, ...lines, ''].join('\n');
}
