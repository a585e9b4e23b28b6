import { wordSet } from '../../../../policy/text/word-list';
import type { JsonMember } from './json-members';
import { isPlainCommand } from './plain-command';
import { COMMAND } from './setting';

const SETTING = 'is a setting of what is installed and run';
const SETTING_OR_COMMAND = `${SETTING}, or ${COMMAND}`;
const LOADED = 'decides which files the program loads';

/** Objects and lists that describe the package, or name packages with their versions. https://getcomposer.org/doc/04-schema.md */
const PLAIN_OBJECTS = wordSet('conflict suggest support authors funding scripts-descriptions branch-alias');
const PACKAGES = wordSet('require require-dev');
const PLAIN_LISTS = wordSet('keywords license authors');
/** Objects and lists of files that the autoloader of Composer loads, some of them in each run. */
const AUTOLOAD = wordSet('autoload autoload-dev psr-4 psr-0 classmap files exclude-from-classmap include-path');
const PACKAGE = /^[\w.-]+\/[\w.-]+$/;
/** A branch, or releases that are not stable: https://getcomposer.org/doc/articles/versions.md */
const UNSTABLE = /(?:^"|[\s|,])dev-|[\dx*]-dev\b|@[a-z]/i;
/** Of the platform or of a branch. */
const VERSIONS = /^"(?:[\^~<>=!|., *-]|\d|\.x-dev)+"$/;
/** Members of the package and of its authors. */
const PLAIN_KEYS = wordSet('type homepage readme time email abandoned $schema');
/** Those that can have several words. Another one with several words can be a script of that name. */
const PROSE = wordSet('name description license role');

/** Why a person sees a new member of composer.json that no other check reports; null for one that describes the package. */
export function composerSetting({ parent, key, value }: JsonMember): string | null {
  const container = parent.key?.toLowerCase() ?? null;
  if (container !== null && AUTOLOAD.has(container)) return LOADED;
  if (key !== null && AUTOLOAD.has(key.toLowerCase()) && value !== '{' && value !== '[') return LOADED;
  if (parent.within === 'scripts' || container === 'scripts') return value === '[' || isPlain(value) ? null : COMMAND;
  if (key === null)
    return !value.startsWith('"') || (container !== null && PLAIN_LISTS.has(container)) ? null : SETTING;
  if (container !== null && PLAIN_OBJECTS.has(container)) return null;
  if (container === null ? PACKAGE.test(key) : PACKAGES.has(container)) return UNSTABLE.test(value) ? SETTING : null;
  if (value === '{' || value === '[') return isOpened(container) ? SETTING : null;
  if (container !== null) return SETTING;
  if (PROSE.has(key.toLowerCase()) || VERSIONS.test(value)) return null;
  if (PLAIN_KEYS.has(key.toLowerCase()) && !/\s/.test(value)) return null;
  // A command of `scripts` can have any name.
  return isPlain(value) ? null : SETTING_OR_COMMAND;
}

/** `@name` runs another script of the manifest. https://getcomposer.org/doc/articles/scripts.md#referencing-scripts */
const isPlain = (value: string): boolean => /^"@[\w:.-]+"$/.test(value) || isPlainCommand(value);

/** An object of settings of Composer or of a framework. */
const isOpened = (container: string | null): boolean => container === 'config' || container === 'extra';
