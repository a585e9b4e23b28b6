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
import { schemaSha, wireJsonSchema } from '../../policy/judge/wire';
import { declaredView, viewOf } from '../../policy/rules/tool-view';
import type { ValidatorDefinition, ValidatorInput } from '../../policy/rules/define';
import { PACKS } from '../../source-tools';
import { defineSourceTool } from '../../source-tools/define';
import { extensionsOf } from '../../workers/extensions';
import type { ComparedDiff, Subject } from './evaluate-input';

const { validators, sourceTools } = extensionsOf();

const plainTool = defineSourceTool({
  sourceTool: 'Plain',
  mode: 'cooperative',
  parser: { name: 'none', version: '1' },
  facts: () => ({ ok: true, kind: 'none', parser: { name: 'none', version: '1' } }),
  staging: null,
});

/** Evaluated with what the diff's tool reads, as far as the definition declares it. */
function withTool(definition: ValidatorDefinition) {
  const { evaluate, reads } = definition;
  if (evaluate === null) return { ...definition, evaluate };
  return {
    ...definition,
    evaluate: (given: Omit<ValidatorInput, 'tool'>) => {
      const tool = sourceTools.get(given.diff.sourceTool) ?? plainTool;
      return evaluate({ ...given, tool: declaredView(viewOf(tool, given.facts, given.diff), reads) });
    },
  };
}

export const subject: Subject = {
  definitions: validators.keys().flatMap((key) => {
    const definition = validators.get(key);
    return definition === undefined ? [] : [withTool(definition)];
  }),
  examples: PACKS.flatMap(({ rules }) =>
    rules.map(({ definition: { implementation, sourceTools: tools }, examples }) => ({
      implementation,
      sourceTools: tools,
      examples,
    })),
  ),
  facts: async (diff: ComparedDiff) => {
    const tool = sourceTools.get(diff.sourceTool);
    return tool === undefined ? null : await tool.facts({ ...diff, diffSha: sha256Hex(diff.raw) });
  },
  stagingSha: (record) => stagingSha(record as StagingRecord),
  renderers: Object.fromEntries(sourceTools.keys().map((name) => [name, sourceTools.get(name)?.render])),
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
