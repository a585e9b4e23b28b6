import type { PackOptions } from '../../../policy/rules/rule-maker';

/** Raised by hand whenever the extractor reads the same patch otherwise; a test pins its source to it. */
export const GIT_FACTS_REVISION = 2;

/** Our reading of a patch, after `git apply` of git 2.39: part of every rule's `logic_hash`. */
export const GIT_PARSER = { name: 'countersign-git-patch', version: `facts.${GIT_FACTS_REVISION}` } as const;

export const GIT_PACK: PackOptions = {
  pack: 'git-diff',
  kind: 'git-patch',
  sourceTools: ['GitPatch'],
  parser: GIT_PARSER,
};
