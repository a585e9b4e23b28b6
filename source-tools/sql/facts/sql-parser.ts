/** Raise it if the extractor gives other facts or messages for the same text. A test pins the extractor's source to it. */
export const SQL_FACTS_REVISION = 15;

/**
 * Versions of the parser and of the extractor. Part of every rule's `logic_hash`, because an unchanged rule gives other findings
 * if its facts change. A test compares the parser version with package.json.
 */
export const SQL_PARSER = { name: 'libpg-query', version: `18.1.5+facts.${SQL_FACTS_REVISION}` } as const;
