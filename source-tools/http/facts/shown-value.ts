import { scanText } from '../../../policy/rules/secrets/scan';
import { shown } from '../../../policy/text/shown-name';
import { isPrivateName } from './private-names';
import type { Json } from './json';

const MAX_TEXT = 40;

/** A value of a patch or document for a reason. The contents of structures, long texts and possible secrets are not shown. */
export function shownValue(value: Json, path: readonly string[]): string {
  if (Array.isArray(value)) return `an array of ${value.length} items`;
  if (typeof value === 'object' && value !== null) return `an object of ${Object.keys(value).length} members`;
  if (path.some(isPrivateName)) return 'a value that is not shown';
  if (typeof value !== 'string') return String(value);
  if (value.length > MAX_TEXT) return `a text of ${value.length} characters`;
  const isSecret = Object.values(scanText(`${path.at(-1) ?? ''}: "${value}"`).found).some(({ length }) => length > 0);
  return isSecret ? 'a value that is not shown' : shown(value);
}
