import { packDefinitions } from '../../../../source-tools';
import { secretCases, textOf } from '../../../quality/corpora/secrets';
import { runRule } from '../support/run-pack-rule';

const secretsPack = packDefinitions.filter(({ pack }) => pack === 'secrets');
const cases = ['gitleaks-literal-cases.json', 'secretlint-cases.json'].flatMap((file) => secretCases(file) ?? []);
const itWithCorpora = cases.length === 0 ? it.skip : it;

describe('the secrets of the gitleaks and secretlint corpora', () => {
  itWithCorpora('are found equally in plain text, in the added lines of a patch and in JSON', () => {
    for (const c of cases.filter(({ expected }) => expected === 'violation')) {
      const text = textOf(c).replace(/\r?\n$/, '');
      const found = fires(text, 'Own');
      expect([c.id, fires(asPatch(text), 'GitPatch')]).toEqual([c.id, found]);
      if (found) expect([c.id, fires(JSON.stringify({ body: text }), 'HTTPPatch')]).toEqual([c.id, true]);
    }
  });
});

function fires(raw: string, sourceTool: string): boolean {
  return secretsPack
    .filter((rule) => rule.sourceTools === '*')
    .some((rule) => runRule(secretsPack, rule.implementation, raw, { sourceTool }).status !== 'ALLOW');
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
