/**
 * What is pinned, and where it begins. After a move of files change the paths here and nothing else: the digests stay.
 * Rules are found by their names in `RULE_FOLDERS`.
 */
import { judgeDefinition } from '../../policy/judge/config';
import { RENDERER_REVISION } from '../../policy/judge/document';
import { MARKERS_REVISION } from '../../policy/text/injection-markers';
import { PROMPT_REVISION } from '../../policy/judge/prompt';
import { ANSWER_PARSER_REVISION } from '../../policy/judge/read-answer';
import { REDACTOR_REVISION } from '../../policy/judge/secrets';
import { aggregateDefinition } from '../../policy/rules/aggregate/aggregate';
import { BUILTIN_VALIDATORS } from '../../policy/rules/builtin';
import type { ValidatorDefinition } from '../../policy/rules/define';
import { GIT_FACTS_REVISION } from '../../source-tools/git/facts/git-parser';
import { HTTP_FACTS_REVISION } from '../../source-tools/http/facts/http-parser';
import { packDefinitions } from '../../source-tools';
import { CAS_PARSER } from '../../source-tools/sql/facts/sql-cas-facts';
import { SQL_FACTS_REVISION } from '../../source-tools/sql/facts/sql-parser';
import { TERRAFORM_FACTS_REVISION } from '../../source-tools/terraform/facts/terraform-parser';
import { gitRenderer } from '../../source-tools/git/render';
import { sqlRenderer } from '../../source-tools/sql/render';
import { jsonRenderer } from '../../policy/text/render/json';
import { contractValidators } from '../../policy/validators/definitions';

type Pinned = Pick<ValidatorDefinition, 'implementation' | 'logicRevision' | 'parser'>;

/** Every validator that we ship except the judge, which is pinned in parts. */
export const DEFINITIONS: readonly Pinned[] = [
  ...packDefinitions,
  ...(contractValidators as readonly Pinned[]),
  ...(BUILTIN_VALIDATORS as readonly Pinned[]),
  aggregateDefinition as Pinned,
];

/** Folders with the files that define them. */
export const RULE_FOLDERS = ['policy/rules', 'policy/validators', 'source-tools'];

export interface PinnedPart {
  readonly name: string;
  readonly revision: number | string;
  /** Exported values with which its code begins. */
  readonly roots: readonly (readonly [path: string, name: string])[];
}

const WHOLE_TEXTS = ['policy/text/whole-texts.ts', 'wholeTexts'] as const;
const TOUCHED_NAMES = ['source-tools/touched-names.ts', 'touchedNames'] as const;

/** What reads the bytes, with the revision that is part of the parser's version and so of every `logic_hash`. */
const EXTRACTORS: readonly PinnedPart[] = [
  {
    name: 'facts/sql',
    revision: SQL_FACTS_REVISION,
    roots: [
      ['source-tools/sql/facts/extract-sql-facts.ts', 'extractSqlFacts'],
      ['source-tools/sql/facts/measure.ts', 'measureSql'],
      ['source-tools/sql/facts/touched.ts', 'touchedBySql'],
      ['source-tools/sql/facts/claims.ts', 'sqlClaims'],
      WHOLE_TEXTS,
    ],
  },
  {
    name: 'facts/sql-cas',
    revision: CAS_PARSER.version,
    roots: [
      ['source-tools/sql/facts/cas-document.ts', 'readCasDocument'],
      ['source-tools/sql/facts/measure.ts', 'measureCas'],
      ['source-tools/sql/facts/touched.ts', 'touchedByCas'],
      ['source-tools/sql/facts/claims.ts', 'casClaims'],
      WHOLE_TEXTS,
    ],
  },
  {
    name: 'facts/git-patch',
    revision: GIT_FACTS_REVISION,
    roots: [
      ['source-tools/git/facts/extract-git-facts.ts', 'extractGitPatchFacts'],
      ['source-tools/git/facts/texts.ts', 'patchTexts'],
      ['source-tools/git/facts/measure.ts', 'measurePatch'],
      TOUCHED_NAMES,
      WHOLE_TEXTS,
    ],
  },
  {
    name: 'facts/http-patch',
    revision: HTTP_FACTS_REVISION,
    roots: [
      ['source-tools/http/facts/extract-http-facts.ts', 'extractHttpPatchFacts'],
      ['source-tools/http/facts/measure.ts', 'measureRequest'],
      TOUCHED_NAMES,
      WHOLE_TEXTS,
    ],
  },
  {
    name: 'facts/terraform-plan',
    revision: TERRAFORM_FACTS_REVISION,
    roots: [
      ['source-tools/terraform/facts/extract-terraform-facts.ts', 'extractTerraformPlanFacts'],
      ['source-tools/terraform/facts/measure.ts', 'measurePlan'],
      TOUCHED_NAMES,
      WHOLE_TEXTS,
    ],
  },
];

/** Each part of the judge, with the revision that its `logic_hash` covers. */
const JUDGE_PARTS: readonly PinnedPart[] = [
  {
    name: 'judge/answer',
    revision: ANSWER_PARSER_REVISION,
    roots: [
      ['policy/judge/read-answer.ts', 'readAnswer'],
      ['policy/judge/conclude.ts', 'conclude'],
    ],
  },
  {
    name: 'judge/judgement',
    revision: judgeDefinition.logicRevision,
    roots: [
      ['policy/judge/judgement.ts', 'judge'],
      ['policy/judge/judgement.ts', 'notCovered'],
      ['policy/judge/pieces.ts', 'splitDocument'],
    ],
  },
  {
    name: 'judge/markers',
    revision: MARKERS_REVISION,
    roots: [
      ['policy/text/injection-markers.ts', 'injectionMarkers'],
      ['policy/text/injection-markers.ts', 'injectionPlaces'],
    ],
  },
  {
    name: 'judge/prompt',
    revision: PROMPT_REVISION,
    roots: [
      ['policy/judge/prompt.ts', 'instructions'],
      ['policy/judge/prompt.ts', 'userMessage'],
      ['policy/judge/prompt.ts', 'nonceOf'],
      ['policy/judge/prompt.ts', 'promptSha'],
      ['policy/judge/wire.ts', 'schemaSha'],
      ['policy/judge/default-policies.ts', 'DEFAULT_POLICIES'],
    ],
  },
  { name: 'judge/redactor', revision: REDACTOR_REVISION, roots: [['policy/judge/redact.ts', 'createRedactor']] },
  {
    name: 'judge/renderer',
    revision: `${[gitRenderer, jsonRenderer, sqlRenderer].map((r) => `${r.name}@${r.revision}`).join(' ')} ${RENDERER_REVISION}`,
    roots: [
      ['policy/judge/document.ts', 'makeDocument'],
      ['source-tools/git/render.ts', 'gitRenderer'],
      ['policy/text/render/json.ts', 'jsonRenderer'],
      ['source-tools/sql/render.ts', 'sqlRenderer'],
      ['policy/text/render/text.ts', 'textRenderer'],
    ],
  },
];

export const PARTS: readonly PinnedPart[] = [...EXTRACTORS, ...JUDGE_PARTS];
