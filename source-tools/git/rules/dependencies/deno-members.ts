import { wordSet } from '../../../../policy/text/word-list';
import type { JsonMember } from './json-members';
import { SETTING } from './setting';

/** Lists of names and of patterns of files. */
const PLAIN_LISTS = wordSet('include exclude tags lib keywords');
/** https://docs.deno.com/runtime/fundamentals/configuration/#permissions */
const PERMISSIONS = wordSet('all read write net env sys run ffi');

/** Why a person sees a new item of a list of deno.json, or a permission, that no other check reports; or null. */
export function denoSetting({ parent, key, value }: JsonMember): string | null {
  if (key === null) return value.startsWith('"') && !isPlainItem(parent, value) ? SETTING : null;
  if (value.startsWith('"data:')) return SETTING;
  return PERMISSIONS.has(key) && (value === 'true' || value === '[' || value === '{') ? SETTING : null;
}

/** A plugin is a path or a package with its registry; rules and flags are words. */
function isPlainItem({ kind, key }: JsonMember['parent'], value: string): boolean {
  if (kind === '[' && key !== null && PLAIN_LISTS.has(key)) return true;
  return /^"[\w-]+"$/.test(value) && key !== 'workspace';
}
