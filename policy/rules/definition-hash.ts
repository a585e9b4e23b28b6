import type { Sha256 } from '../contracts/hash';
import { logicHash } from '../contracts/plan';
import type { SourceTool } from '../contracts/source-tool';
import type { ValidatorDefinition } from './define';
import { isToolRead } from './tool-view';

/** What of a source tool is part of a logic hash. */
export type HashedTool = Pick<SourceTool, 'parser' | 'render'>;

type HashedDefinition = Pick<ValidatorDefinition, 'version' | 'logicRevision' | 'parser' | 'reads'>;

/**
 * The logic hash of a validator in a plan for one source tool. It covers the tool's parser if the validator reads texts,
 * measures, places or claims through the tool, and the tool's renderer if the validator reads the rendering: another
 * revision of either may lead to another finding.
 */
export function definitionHash(
  { version, logicRevision, parser, reads }: HashedDefinition,
  { id, config }: { readonly id: string; readonly config: object },
  tool: HashedTool | undefined,
): Sha256 {
  const readers =
    tool === undefined
      ? []
      : [
          ...(reads.some(isToolRead) ? [`${tool.parser.name} ${tool.parser.version}`] : []),
          ...(reads.includes('rendering') ? [`${tool.render.name}@${tool.render.revision}`] : []),
        ];
  return logicHash({ id, version, logicRevision, config, parser, readers });
}
