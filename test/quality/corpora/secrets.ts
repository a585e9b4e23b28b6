import { scanText, SECRET_CATEGORIES } from '../../../policy/rules/secrets/scan';
import { corpus } from '../../source-tools/sql/rules/support/corpus';
import { labelOf, verdictOf, type Judgement, type Measure } from '../judged';

export interface SecretCase {
  readonly id: string;
  readonly rule?: string;
  readonly inputB64: string;
  readonly expected: 'pass' | 'violation';
}

export const textOf = ({ inputB64 }: SecretCase): string => Buffer.from(inputB64, 'base64').toString();

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

/** The cases whose label is about a secret in the text. */
export const secretCases = (file: string, folder?: string): readonly SecretCase[] | null =>
  corpus<readonly SecretCase[]>(file, folder)?.filter((c) =>
    c.expected === 'pass' ? !isContradicted(c) : !NO_SECRETS.some((id) => c.id.includes(id)),
  ) ?? null;

function judgeOne(c: SecretCase) {
  const kinds = kindsIn(textOf(c)).filter((kind) => c.expected === 'violation' || isOwn(kind, c));
  return { id: c.id, expected: labelOf(c.expected), actual: verdictOf(kinds.length > 0), what: kinds.join(', ') };
}

const measure = (name: string, file: string): Measure => ({
  name,
  file,
  own: false,
  judge: async (folder): Promise<Judgement | null> => {
    const [all, cases] = [corpus<readonly SecretCase[]>(file, folder), secretCases(file, folder)];
    if (all === null || cases === null) return null;
    return { judged: cases.map(judgeOne), notCompared: all.length - cases.length };
  },
});

export const gitleaks = measure('gitleaks', 'gitleaks-literal-cases.json');
export const secretlint = measure('secretlint', 'secretlint-cases.json');
