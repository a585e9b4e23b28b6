import { z } from 'zod';
import { memoizeByObject } from '../text/memoize';
import { BundleSchema } from './schema';

/** The JSON Schema (draft 2020-12) of a bundle, for editors: `# yaml-language-server: $schema=…`. */
export function jsonSchema(): z.core.JSONSchema.JSONSchema {
  return {
    ...z.toJSONSchema(BundleSchema, { io: 'input', target: 'draft-2020-12' }),
    title: 'countersign.policy.yaml',
    description: 'Which validators check the changes of AI agents, and who must countersign them.',
  };
}

/** Every key of objects with this schema and below, for suggestions about misspelled keys. Memoized. */
export const keysOf = memoizeByObject((schema: z.ZodType): readonly string[] => {
  return [...collect(z.toJSONSchema(schema, { io: 'input' }), new Set<string>())].sort();
});

function collect(node: unknown, into: Set<string>): Set<string> {
  if (Array.isArray(node)) for (const item of node) collect(item, into);
  else if (typeof node === 'object' && node !== null) {
    const { properties } = node as { properties?: unknown };
    if (typeof properties === 'object' && properties !== null) for (const key of Object.keys(properties)) into.add(key);
    for (const member of Object.values(node)) collect(member, into);
  }
  return into;
}
