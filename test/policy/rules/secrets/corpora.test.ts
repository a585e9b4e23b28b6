import { scanText, WAYS } from '../../../../policy/rules/secrets/scan';
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
  return WAYS.flatMap((way) => found[way].map(({ kind }) => kind));
};

/** What these cases call a violation is no secret: a home directory, an account number, a client's public id, the rules' own samples. */
const NO_SECRETS = ['no-homedir', 'aws/ng.AWS Account ID', 'secretlint-rule-example', 'azure_client_id'];

/** Named "not good" by their authors, and labelled as passing: the label is of another configuration, or wrong. */
const isContradicted = ({ id }: SecretCase): boolean => /\/ng\.|enableIDScanRule-false/.test(id);

/** Kinds whose name is not the word that a rule of gitleaks begins with. */
const WORDS: Readonly<Record<string, RegExp>> = {
  secret: /generic-api-key/,
  password: /generic-api-key/,
  url: /sidekiq/,
  // One kind of ours, and two rules of theirs whose cases each hold a key of the other.
  anthropic: /(?!)/,
};

/**
 * A case of gitleaks says what one of its rules must not find, and its text may well hold what another of its rules is
 * there for: so only a kind of that rule counts. The cases of secretlint are judged by all of its rules.
 */
function isOwn(kind: string, { rule }: SecretCase): boolean {
  if (rule === undefined) return true;
  const word = kind.split('_')[0] as string;
  return WORDS[word]?.test(rule) ?? rule.includes(word);
}

const all = ['gitleaks-literal-cases.json', 'secretlint-cases.json'].map((file) => corpus<readonly SecretCase[]>(file));
const cases = all.flatMap((set) => set ?? []);
const where = cases.length === 0 ? it.skip : it;
const positives = cases.filter((c) => c.expected === 'violation' && !NO_SECRETS.some((id) => c.id.includes(id)));
const negatives = cases.filter((c) => c.expected === 'pass' && !isContradicted(c));

describe('secrets that others wrote down (../shared/corpora)', () => {
  where('are found, at least 95 of 100', () => {
    const missed = positives.filter((c) => kindsIn(textOf(c)).length === 0).map((c) => c.id);
    expect([missed, missed.length <= positives.length * 0.05]).toEqual([missed, true]);
  });

  where('raise at most 2 false alarms in 100', () => {
    const alarms = negatives.flatMap((c) => {
      const kinds = kindsIn(textOf(c)).filter((kind) => isOwn(kind, c));
      return kinds.length === 0 ? [] : [[c.id, kinds]];
    });
    expect([alarms, alarms.length <= negatives.length * 0.02]).toEqual([alarms, true]);
  });

  where('are found alike in bytes, on the added lines of a patch, and inside JSON', () => {
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
