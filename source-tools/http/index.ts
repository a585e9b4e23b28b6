import { jsonRenderer } from '../../policy/text/render/json';
import { normalizedJson } from '../../policy/text/normalized-json';
import type { Pack } from '../../policy/rules/pack';
import { defineSourceTool } from '../define';
import { touchedNames } from '../touched-names';
import { extractHttpPatchFacts } from './facts/extract-http-facts';
import { HTTP_FACTS, type HttpPatchFacts } from './facts/http-facts';
import { HTTP_PARSER } from './facts/http-parser';
import { measureRequest } from './facts/measure';
import { httpPatchRules } from './rules';
import { HttpSettings } from './staging-settings';
import { requestTitle } from './title';

/** Source tool for requests that change one JSON resource. */
export const httpPatch = defineSourceTool<HttpPatchFacts>({
  sourceTool: 'HTTPPatch',
  mode: 'enforced',
  parser: HTTP_PARSER,
  facts: ({ raw }) => extractHttpPatchFacts(raw),
  normalized: ({ raw }) => normalizedJson(raw),
  measure: measureRequest,
  touched: touchedNames,
  title: requestTitle,
  render: jsonRenderer,
  factsMembers: HTTP_FACTS,
  stagingSettings: HttpSettings,
  // Everything that is sent is in the bytes.
  effectMetadata: { members: {}, refused: ['headers', 'method', 'url', 'body', 'content_type', 'contentType'] },
  staging: async () => (await import('./staging/index.js')).httpPatchEffects,
});

export const httpPack: Pack = {
  name: 'http-patch',
  about:
    'Requests with a JSON Patch, a JSON Merge Patch or another body: their target, what they write and the result.',
  rules: httpPatchRules,
};
