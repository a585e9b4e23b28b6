import type { DiffInput } from '../../policy/contracts/diff';
import type { Facts } from '../../policy/contracts/facts';
import { defineSourceTool, type SourceTool } from '../define';
import { renderText } from '../render-text';

interface ReviewOnly {
  readonly sourceTool: string;
  readonly language: string;
  /** Pure and bounded; what cannot be read is a refusal. */
  readonly extract: (raw: Uint8Array) => Facts;
}

/** A source tool that rules can read and our committer does not perform: its requester does, on a signed receipt. */
export function createReviewOnlyTool({ sourceTool, language, extract }: ReviewOnly): SourceTool {
  return defineSourceTool({
    sourceTool,
    mode: 'cooperative',
    extractFacts: (diff: DiffInput) => Promise.resolve(extract(diff.raw)),
    render: (diff: DiffInput) => renderText(diff.raw, language),
    effects: null,
  });
}
