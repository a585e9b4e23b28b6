import { RE2JS } from 're2js';

/** An RE2 pattern that is compiled on first use, because a process needs few of all patterns. `flags`: those of RE2JS. */
export function lazyPattern(pattern: string, flags = 0): () => RE2JS {
  let compiled: RE2JS | null = null;
  return () => (compiled ??= RE2JS.compile(pattern, flags));
}
