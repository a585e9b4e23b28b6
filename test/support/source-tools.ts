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
