import type { Sha256 } from '../contracts/hash';
import { logicHash } from '../contracts/plan';
import type { SourceTool } from '../contracts/source-tool';
import type { ValidatorDefinition } from './define';
import { isToolRead } from './tool-view';

/** The members of a source tool that a logic hash covers. */
export type HashedTool = Pick<SourceTool, 'parser' | 'render'>;

type HashedDefinition = Pick<ValidatorDefinition, 'version' | 'logicRevision' | 'parser' | 'reads'>;

/**
 * The logic hash of a validator in a plan for one source tool. It covers the tool's parser if the validator reads through
 * the tool (texts, measure, touched, claims) or reads facts without naming the tool's parser in its version, as conditions do, and the
 * tool's renderer if the validator reads the rendering, because another revision of either may produce another finding.
 */
export function definitionHash(
  { version, logicRevision, parser, reads }: HashedDefinition,
  { id, config }: { readonly id: string; readonly config: object },
  tool: HashedTool | undefined,
): Sha256 {
  const readers: string[] = [];
  if (tool !== undefined) {
    const readsUnnamedParser = reads.includes('facts') && !namesParser(parser, tool.parser);
    if (readsUnnamedParser || reads.some(isToolRead)) readers.push(`${tool.parser.name} ${tool.parser.version}`);
    if (reads.includes('rendering')) readers.push(`${tool.render.name}@${tool.render.revision}`);
  }
  return logicHash({ id, version, logicRevision, config, parser, readers });
}

function namesParser(named: HashedDefinition['parser'], { name, version }: HashedTool['parser']): boolean {
  return named !== null && named.name === name && named.version === version;
}
