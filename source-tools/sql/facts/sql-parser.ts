/** Raised by hand whenever the extractor reads the same text otherwise; a test pins its source to it. */
export const SQL_FACTS_REVISION = 4;

/**
 * The parser that the facts come from, with our reading of its tree: part of every rule's `logic_hash`, since a rule that did not
 * change answers otherwise when its facts do. A test compares the version with package.json.
 */
export const SQL_PARSER = { name: 'libpg-query', version: `18.1.5+facts.${SQL_FACTS_REVISION}` } as const;
