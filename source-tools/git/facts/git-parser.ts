import type { PackOptions } from '../../../policy/rules/rule-maker';

/** Raise this by hand whenever the extractor reads the same patch differently; a test pins its source to the revision. */
export const GIT_FACTS_REVISION = 6;

/** How we read a patch, modeled on `git apply` of git 2.39. Part of every rule's `logic_hash`. */
export const GIT_PARSER = { name: 'countersign-git-patch', version: `facts.${GIT_FACTS_REVISION}` } as const;

export const GIT_PACK: PackOptions = {
  pack: 'git-diff',
  kind: 'git-patch',
  sourceTools: ['GitPatch'],
  parser: GIT_PARSER,
};
