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
import { packDefinitions } from '../../policy/rules/packs';
import { CAS_PARSER } from '../../source-tools/sql/facts/sql-cas-facts';
import { SQL_FACTS_REVISION } from '../../source-tools/sql/facts/sql-parser';
import { TERRAFORM_FACTS_REVISION } from '../../source-tools/terraform/facts/terraform-parser';
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

/** What reads the bytes, with the revision that is part of the parser's version and so of every `logic_hash`. */
const EXTRACTORS: readonly PinnedPart[] = [
  {
    name: 'facts/sql',
    revision: SQL_FACTS_REVISION,
    roots: [['source-tools/sql/facts/extract-sql-facts.ts', 'extractSqlFacts']],
  },
  {
    name: 'facts/sql-cas',
    revision: CAS_PARSER.version,
    roots: [['source-tools/sql/facts/cas-document.ts', 'readCasDocument']],
  },
  {
    name: 'facts/git-patch',
    revision: GIT_FACTS_REVISION,
    roots: [['source-tools/git/facts/extract-git-facts.ts', 'extractGitPatchFacts']],
  },
  {
    name: 'facts/http-patch',
    revision: HTTP_FACTS_REVISION,
    roots: [['source-tools/http/facts/extract-http-facts.ts', 'extractHttpPatchFacts']],
  },
  {
    name: 'facts/terraform-plan',
    revision: TERRAFORM_FACTS_REVISION,
    roots: [['source-tools/terraform/facts/extract-terraform-facts.ts', 'extractTerraformPlanFacts']],
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
    revision: RENDERER_REVISION,
    roots: [
      ['policy/judge/document.ts', 'makeDocument'],
      ['policy/judge/render/renderers.ts', 'JUDGE_RENDERERS'],
    ],
  },
];

export const PARTS: readonly PinnedPart[] = [...EXTRACTORS, ...JUDGE_PARTS];
