import type { PackOptions } from '../../../policy/rules/rule-maker';

/** Raised by hand whenever the extractor reads the same request otherwise; a test pins its source to it. */
export const HTTP_FACTS_REVISION = 3;

/** Our reading of a staged request: part of every rule's `logic_hash`. */
export const HTTP_PARSER = { name: 'countersign-http-patch', version: `facts.${HTTP_FACTS_REVISION}` } as const;

export const HTTP_PACK: PackOptions = {
  pack: 'http-patch',
  kind: 'http-patch',
  sourceTools: ['HTTPPatch'],
  parser: HTTP_PARSER,
};
