import { CountersignError } from '../../client/errors';
import type { SourceTool } from '../../policy/contracts/source-tool';
import { oneLineTitle } from '../../policy/text/change-title';
import type { VerifiedReview } from '../../signing/verified-review';
import type { Env } from '../../workers/config';
import type { Connected } from './connection';

export type TitledReview = Pick<VerifiedReview, 'status' | 'bytes' | 'staging'>;

/**
 * What the change does, in one line, by its source tool from the verified bytes and dry run. For a tool that this program does not
 * have, or without the bytes, the name of the tool and the target.
 */
export async function changeTitle(env: Env, { status, bytes, staging }: TitledReview): Promise<string> {
  const { sourceTool, target, diffSha, metadata } = status;
  const tool = await toolNamed(env, sourceTool);
  if (bytes === null || tool === undefined) return oneLineTitle(`${sourceTool} on ${target}`);
  const diff = { sourceTool, raw: bytes, diffSha, metadata };
  return tool.title(await tool.facts(diff), diff, staging);
}

/** A built-in tool, or one of COUNTERSIGN_EXTENSIONS. */
async function toolNamed(env: Env, name: string): Promise<SourceTool | undefined> {
  const { extensionsSetting } = await import('../../workers/local-client.js');
  const modules = extensionsSetting(env);
  if (modules !== '')
    return (await (await import('../../workers/extensions.js')).loadExtensions(modules)).sourceTools.get(name);
  const { SOURCE_TOOLS } = await import('../../source-tools/index.js');
  return SOURCE_TOOLS.find((known) => known.sourceTool === name);
}

/** The title of a review that verifies; null for one that does not, or that cannot be read now: a result is printed without it. */
export async function titleIfVerified(
  env: Env,
  reviews: Pick<Connected['reviews'], 'review'>,
  changeId: string,
): Promise<string | null> {
  try {
    return await changeTitle(env, await reviews.review(changeId));
  } catch (error) {
    if (error instanceof CountersignError) return null;
    throw error;
  }
}
