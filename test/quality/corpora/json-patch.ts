import { canonicalJson, type JsonValue } from '../../../policy/contracts/canonical-json';
import { extractHttpPatchFacts } from '../../../source-tools/http/facts/extract-http-facts';
import type { HttpPatchFacts } from '../../../source-tools/http/facts/http-facts';
import { request } from '../../../source-tools/http/rules/define-http-rule';
import { runRule } from '../../policy/rules/support/run-pack-rule';
import { corpus } from '../../source-tools/sql/rules/support/corpus';
import { verdictOf, type Measure } from '../judged';

interface PatchCase {
  readonly id: string;
  readonly comment: string | null;
  readonly doc: JsonValue;
  readonly patch: JsonValue;
  readonly expected: 'ok' | 'error';
  readonly result?: JsonValue;
}

const FILE = 'json-patch-rfc6902.json';

/** A case passes if the patch applies and the document becomes the one of the suite. */
function judgeOne({ id, comment, doc, patch, expected, result }: PatchCase) {
  const raw = request({ body: patch, document: doc });
  const { status, errorClass, reason } = runRule('http_patch_invalid', raw);
  if (errorClass !== undefined) throw new Error(`${id}: ${reason}`);
  const facts = extractHttpPatchFacts(Buffer.from(raw)) as HttpPatchFacts;
  const differs = status === 'ALLOW' && result !== undefined && canonicalJson(facts.result) !== canonicalJson(result);
  return {
    id,
    expected: verdictOf(expected === 'error'),
    actual: verdictOf(status !== 'ALLOW' || differs),
    what: differs ? 'another document' : reason || (comment ?? ''),
  };
}

export const jsonPatch: Measure = {
  name: 'json-patch',
  file: FILE,
  own: false,
  judge: async (folder) => {
    const cases = corpus<readonly PatchCase[]>(FILE, folder);
    return cases === null ? null : { judged: cases.map(judgeOne), notCompared: 0 };
  },
};
