import type { DiffInput } from '../../policy/contracts/diff';
import type { Facts } from '../../policy/contracts/facts';
import { viewOf, type ToolView } from '../../policy/rules/tool-view';
import { SOURCE_TOOLS } from '../../source-tools';
import { defineSourceTool, sourceToolRegistry } from '../../source-tools/define';

export const ourTools = sourceToolRegistry(SOURCE_TOOLS);

const PARSER = { name: 'none', version: '1' } as const;

/** A tool whose diffs say nothing beyond their bytes. */
export const plainTool = defineSourceTool({
  sourceTool: 'Plain',
  mode: 'cooperative',
  parser: PARSER,
  facts: () => ({ ok: true, kind: 'none', parser: PARSER }),
  staging: null,
});

/** The view of the diff's tool for a validator that a test calls directly. For a tool that we do not ship, that of the plain tool. */
export function toolViewOf(facts: Facts, diff: DiffInput): ToolView {
  return viewOf(ourTools.get(diff.sourceTool) ?? plainTool, facts, diff);
}
