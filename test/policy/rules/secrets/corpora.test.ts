import { scanText, SECRET_CATEGORIES } from '../../../../policy/rules/secrets/scan';
import { packDefinitions } from '../../../../source-tools';
import { corpus } from '../../../source-tools/sql/rules/support/corpus';
import { runRule } from '../support/run-pack-rule';

const secretsPack = packDefinitions.filter(({ pack }) => pack === 'secrets');

interface SecretCase {
  readonly id: string;
  readonly rule?: string;
  readonly inputB64: string;
  readonly expected: 'pass' | 'violation';
}

const textOf = ({ inputB64 }: SecretCase): string => Buffer.from(inputB64, 'base64').toString();

const kindsIn = (text: string): readonly string[] => {
  const { found } = scanText(text);
  return SECRET_CATEGORIES.flatMap((category) => found[category].map(({ kind }) => kind));
};

/** Cases labelled as violations that are not secrets: a home directory, an account number, a public client id, a sample rule. */
const NO_SECRETS = ['no-homedir', 'aws/ng.AWS Account ID', 'secretlint-rule-example', 'azure_client_id'];

/** Cases labelled as passing although their authors named them "not good": the label is wrong or for another configuration. */
const isContradicted = ({ id }: SecretCase): boolean => /\/ng\.|enableIDScanRule-false/.test(id);

/** Gitleaks rules of the kinds that have another name there. */
const WORDS: Readonly<Record<string, RegExp>> = {
  secret: /generic-api-key/,
  password: /generic-api-key/,
  url: /sidekiq/,
  // Gitleaks has two rules for this kind, and the cases of each contain keys of the other.
  anthropic: /(?!)/,
};

/**
 * True if a finding counts for a case. A gitleaks case is about one of its rules, and its text may contain a secret of another
 * rule, so only findings of that rule's kind count. For a secretlint case all findings count.
 */
function isOwn(kind: string, { rule }: SecretCase): boolean {
  if (rule === undefined) return true;
  const word = kind.split('_')[0] as string;
  return WORDS[word]?.test(rule) ?? rule.includes(word);
}

const all = ['gitleaks-literal-cases.json', 'secretlint-cases.json'].map((file) => corpus<readonly SecretCase[]>(file));
const cases = all.flatMap((set) => set ?? []);
const itWithCorpora = cases.length === 0 ? it.skip : it;
const positives = cases.filter((c) => c.expected === 'violation' && !NO_SECRETS.some((id) => c.id.includes(id)));
const negatives = cases.filter((c) => c.expected === 'pass' && !isContradicted(c));

describe('the secrets of the gitleaks and secretlint corpora', () => {
  itWithCorpora('are found in at least 95 % of the cases', () => {
    const missed = positives.filter((c) => kindsIn(textOf(c)).length === 0).map((c) => c.id);
    expect([missed, missed.length <= positives.length * 0.05]).toEqual([missed, true]);
  });

  itWithCorpora('give false positives in at most 2 % of the cases', () => {
    const alarms = negatives.flatMap((c) => {
      const kinds = kindsIn(textOf(c)).filter((kind) => isOwn(kind, c));
      return kinds.length === 0 ? [] : [[c.id, kinds]];
    });
    expect([alarms, alarms.length <= negatives.length * 0.02]).toEqual([alarms, true]);
  });

  itWithCorpora('are found equally in plain text, in the added lines of a patch and in JSON', () => {
    for (const c of positives) {
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
