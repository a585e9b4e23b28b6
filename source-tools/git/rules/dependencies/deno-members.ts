import { wordSet } from '../../../../policy/text/word-list';
import type { JsonMember } from './json-members';
import { isPlainCommand } from './plain-command';
import { COMMAND, SETTING } from './setting';

/**
 * Settings of Deno that load plugins, let packages run scripts, grant permissions, or decide which code an import gets.
 * https://docs.deno.com/runtime/fundamentals/configuration/
 */
const SETTINGS = new Set([
  ...['importMap', 'lock', 'allowScripts', 'plugins', 'permissions', 'links', 'patch', 'scopes', 'vendor'],
  ...['minimumDependencyAge', 'nodeModulesDir', 'jsxImportSource'],
]);
/** Lists of names and of patterns of files. */
const PLAIN_LISTS = wordSet('include exclude tags lib keywords');
/** https://docs.deno.com/runtime/fundamentals/configuration/#permissions */
const PERMISSIONS = wordSet('all read write net env sys run ffi');
/** An import of a package, of files of one, or of a URL. */
const IMPORT = /^(?!exports$)(?:@[\w-]+\/|[a-z]+:|\w)/;
const FILE = /^"\.{0,2}\//;

/** Why a person sees a new member of deno.json that no other check reports; or null. */
export function denoSetting({ parent, key, value }: JsonMember): string | null {
  if (key === null) return value.startsWith('"') && !isPlainItem(parent, value) ? SETTING : null;
  if (isCommand(parent, key, value)) return isPlainCommand(value) ? null : COMMAND;
  if (SETTINGS.has(key) || value.startsWith('"data:') || (IMPORT.test(key) && FILE.test(value))) return SETTING;
  return PERMISSIONS.has(key) && (value === 'true' || value === '[' || value === '{') ? SETTING : null;
}

/** A text of `tasks`, or one of several words in an object that the hunk does not show. */
function isCommand(parent: JsonMember['parent'], key: string, value: string): boolean {
  if (!value.startsWith('"')) return false;
  if (parent.key === 'tasks' || key === 'command') return true;
  return key !== 'description' && (parent.within === 'tasks' || (parent.key === null && /\s/.test(value)));
}

/** A plugin is a path or a package with its registry; rules and flags are words. */
function isPlainItem({ kind, key }: JsonMember['parent'], value: string): boolean {
  if (kind === '[' && key !== null && PLAIN_LISTS.has(key)) return true;
  return /^"[\w-]+"$/.test(value) && key !== 'workspace';
}
