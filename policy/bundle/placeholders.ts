import { problem, type Path, type Problem } from './issue';

/** `${NAME}`, also with a default value, as shells and compose files write it. `${{ … }}` of pipelines is an ordinary text. */
const PLACEHOLDER = /\$\{[A-Za-z_][^{}]*\}/;

/** Placeholders in keys and values. Nothing replaces them, so the text would be used as it is. */
export function placeholderIssues(data: unknown, path: Path = []): Problem[] {
  if (typeof data === 'string') return issueOf(data, path, false);
  if (typeof data !== 'object' || data === null) return [];
  if (Array.isArray(data)) return data.flatMap((item, i) => placeholderIssues(item, [...path, i]));
  return Object.entries(data).flatMap(([key, value]) => [
    ...issueOf(key, [...path, key], true),
    ...placeholderIssues(value, [...path, key]),
  ]);
}

function issueOf(text: string, path: Path, atKey: boolean): Problem[] {
  const [found] = PLACEHOLDER.exec(text) ?? [];
  if (found === undefined) return [];
  const fix = 'Write the value, or replace it before the check, for example with envsubst.';
  return [problem(path, `"${found}" is not replaced: a bundle has no variables`, fix, atKey)];
}
