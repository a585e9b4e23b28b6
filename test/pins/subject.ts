/**
 * What one checkout offers to the comparison of findings. The comparison knows a checkout by this module alone, so old
 * and new sources may be laid out differently.
 */
import { sha256Hex } from '../../policy/contracts/hash';
import { stagingSha, type StagingRecord } from '../../policy/contracts/staging-record';
import { conclude } from '../../policy/judge/conclude';
import { DEFAULT_POLICIES } from '../../policy/judge/default-policies';
import { makeDocument } from '../../policy/judge/document';
import { injectionMarkers, injectionPlaces } from '../../policy/text/injection-markers';
import { judge, notCovered } from '../../policy/judge/judgement';
import { splitDocument } from '../../policy/judge/pieces';
import { instructions, nonceOf, promptSha, userMessage } from '../../policy/judge/prompt';
import { readAnswer } from '../../policy/judge/read-answer';
import { createRedactor } from '../../policy/judge/redact';
import { JUDGE_RENDERERS } from '../../policy/judge/render/renderers';
import { schemaSha, wireJsonSchema } from '../../policy/judge/wire';
import { PACKS } from '../../policy/rules/packs';
import { extensionsOf } from '../../workers/extensions';
import type { ComparedDiff, Subject } from './evaluate-input';

const { validators, sourceTools } = extensionsOf();

export const subject: Subject = {
  definitions: validators.keys().flatMap((key) => validators.get(key) ?? []),
  examples: PACKS.flatMap(({ rules }) =>
    rules.map(({ definition: { implementation, sourceTools: tools }, examples }) => ({
      implementation,
      sourceTools: tools,
      examples,
    })),
  ),
  facts: async (diff: ComparedDiff) => {
    const tool = sourceTools.get(diff.sourceTool);
    return tool === undefined ? null : await tool.extractFacts({ ...diff, diffSha: sha256Hex(diff.raw) });
  },
  stagingSha: (record) => stagingSha(record as StagingRecord),
  renderers: JUDGE_RENDERERS,
  policies: DEFAULT_POLICIES,
  judge: {
    makeDocument,
    splitDocument,
    injectionMarkers,
    injectionPlaces,
    createRedactor,
    instructions,
    userMessage,
    nonceOf,
    promptSha,
    schemaSha,
    wireJsonSchema,
    readAnswer,
    conclude,
    judge,
    notCovered,
  },
};
