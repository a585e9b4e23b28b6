import { wordSet } from '../../../../policy/text/word-list';
import { JSON_SETTINGS } from './declared';
import type { JsonMember } from './json-members';
import { isPlainCommand } from './plain-command';
import { COMMAND, SETTING } from './setting';

const UNKNOWN_TAG = 'can be a package at a tag or a setting of a tool, in an object that the hunk does not show';
const HOOK = 'can be the command of a git hook';
const TAG = 'installs a package by a tag, or in a form that this rule cannot read';

/** Objects of package.json that name packages with their versions. */
const PACKAGES = wordSet(`
  dependencies devdependencies peerdependencies optionaldependencies overrides resolutions catalog catalogs
`);
/** Objects that describe the package, map what its users import, or are those of an extension of an editor. */
const PLAIN_OBJECTS = wordSet(`
  author bugs repository funding engines man types typesversions peerdependenciesmeta publishconfig devengines
  volta contributes commands menus properties configuration languages grammars keybindings
  capabilities untrustedworkspaces virtualworkspaces
`);
/** Objects whose members are files of the package that its users import, below the names of `exports` and `imports`. */
const ENTRIES = wordSet(`
  exports imports import require node default development production worker workerd deno bun edge-light react-native
  module
`);
/** Members that describe the package, the files that its users import, and the settings of an extension of an editor. */
const PLAIN_KEYS = wordSet(`
  name version type types typings license access tag packagemanager url email homepage description title displayname
  publisher icon id author repository bugs funding main module source style sass svelte default unpkg jsdelivr category
  command when group scope view order $schema directory extension language
`);
/** Those of them that can have several words. Another one with several words can be a script of that name. */
const PROSE = wordSet('name license description title displayname author publisher category when');
/** Members that are true or false. Whether one keeps the package from being published is checked before. */
const PLAIN_FLAGS = wordSet('private optional sideeffects preferglobal provenance default deprecated');
/** Scripts that many packages have, so that the word after one is a command. */
const SCRIPT_NAMES = wordSet(`
  test tests unit build dev start serve preview lint format fmt check typecheck type-check types tsc watch clean docs
  coverage bench benchmark compile generate codegen e2e stop size ci fix
`);
/** https://git-scm.com/docs/githooks; simple-git-hooks and others take their commands from package.json. */
const GIT_HOOKS = wordSet(`
  applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit
  pre-rebase post-checkout post-merge pre-push post-rewrite pre-auto-gc push-to-checkout
`);
/** Lists of names that describe the package or where it runs. */
const PLAIN_LISTS = wordSet(`
  keywords os cpu libc sideeffects maintainers contributors categories enum activationevents extensionkind languages
  extensions aliases filenames tags
`);

const FILE = /^"\.{1,2}\//;
const WORD = /^"\s*[^"\s]*\s*"$/;
/** A range of versions, or a package of the workspace or of its catalogue. A path is checked as an entry point. */
const RANGE =
  /^"\s*(?:(?:[\^~<>=!v]{1,3}\s{0,2})?\d|x"|\*"|(?:workspace|catalog|npm|jsr|file|link|portal|patch|git|github):|https?:\/\/|\.{1,2}\/)/;
/** A range of several words, such as `>=1.2 <2 || ^3.0.0-rc.1`. The shell would run `>1 evil` and `./evil.sh now`. */
const RANGES = /^"(?:\s*(?:\|\||-|(?:[\^~<>=v]+\s?)?[\dx*]+(?:\.[\dx*]+){0,2}(?:[-+][\w.+-]+)?)(?=[\s"]))+\s*"$/;
const PATH = /^"\s*\.{1,2}\//;
const REFERENCE = /^"\$[^"\s]+"$/;
const PACKAGE_NAME = /^(?:@[\w.~-]+\/)?[\w.~-]+$/;

/** Why a person sees a new member of package.json with a text, or with true or false, that no other check reports; or null. */
export function packageSetting({ parent, key, value }: JsonMember): string | null {
  if (key === null || value === '{' || value === '[' || /^(?:null|-?\d)/.test(value)) return null;
  const isFlag = value === 'true' || value === 'false';
  const [object, member] = [parent.key?.toLowerCase() ?? null, key.toLowerCase()];
  if (object !== null && PACKAGES.has(object)) return isRead(key, value) ? null : TAG;
  const isRange = RANGE.test(value) && (WORD.test(value) || RANGES.test(value));
  if (GIT_HOOKS.has(member) && object !== 'scripts' && (!isRange || PATH.test(value))) return HOOK;
  if (object !== null && (ENTRIES.has(object) || /^[.#]/.test(object))) return FILE.test(value) ? null : SETTING;
  if (object === 'scripts') return isPlainCommand(value) ? null : COMMAND;
  if (object !== null && PLAIN_OBJECTS.has(object)) return null;
  if (isFlag) return PLAIN_FLAGS.has(member) ? null : SETTING;
  if (PLAIN_KEYS.has(member) && (WORD.test(value) || PROSE.has(member))) return null;
  if (object !== null) return SETTING;
  // Such as that of lint-staged, whose members are commands for the files that change.
  if (/\*/.test(key) && !/^[.#]/.test(key)) return isRange && !PATH.test(value) ? null : SETTING;
  if (isRange || REFERENCE.test(value)) return null;
  if (WORD.test(value) && PACKAGE_NAME.test(key) && !SCRIPT_NAMES.has(member)) return UNKNOWN_TAG;
  return isPlainCommand(value) ? null : COMMAND;
}

/** Whether other checks read the package, which can have the name of an engine. */
const isRead = (key: string, value: string): boolean =>
  (RANGE.test(value) && !JSON_SETTINGS.test(key)) || REFERENCE.test(value);

/** Declarations of types, which `typesVersions` lists. */
const TYPES = /^"(?:\.\/)?(?:dist\/types\/[^"\s]*|[^"\s]*\.d\.[cm]?ts)"$/;

/** Whether an item of a list is a name that describes the package, or declares types. */
export function isPlainItem(list: string, value: string): boolean {
  return PLAIN_LISTS.has(list.toLowerCase()) || TYPES.test(value);
}
