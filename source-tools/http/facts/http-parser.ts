import type { PackOptions } from '../../../policy/rules/rule-maker';

/** Raise this by hand whenever the extractor reads the same request differently; a test pins its source to the revision. */
export const HTTP_FACTS_REVISION = 11;

/** How we read a staged request. Part of every rule's `logic_hash`. */
export const HTTP_PARSER = { name: 'countersign-http-patch', version: `facts.${HTTP_FACTS_REVISION}` } as const;

export const HTTP_PACK: PackOptions = {
  pack: 'http-patch',
  kind: 'http-patch',
  sourceTools: ['HTTPPatch'],
  parser: HTTP_PARSER,
};
