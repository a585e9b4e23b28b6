import type { PathName } from '../../../../policy/text/glob';
import type { PatchLine } from '../../facts/git-facts';
import type { FileView } from '../patch-view';
import { isDeno, isRequirements } from './ecosystems';
import { withoutEscapes } from './json-escapes';
import { MAX_LINE } from './long-lines';

/** A package with the version or range that a line of a manifest requires. */
export interface Declared {
  readonly name: string;
  readonly version: string;
  readonly line: PatchLine;
}

/** A package name, with a version as its value, anywhere in a text: JSON has no lines. */
const IN_JSON = /"([^"\s]+)"\s*:\s*"([^"]*)"/g;
/** The same in a line. Patterns are anchored and have no nested repetition. */
const IN_YAML = /^\s+['"]?((?:@[\w.-]+\/)?[\w./-]+)['"]?\s*:\s+['"]?([\^~<>=]{0,2}\s?v?\d[^'"#\s]*)/;
const IN_TOML = /^\s*["']?([\w.-]+)["']?\s*=\s*(?:["']([^"']*)["']|\{[^}]*\bversion\s*=\s*["']([^"']*)["'])/;
/** `[dependencies.name]`, also below `target`; the version is in a line of its own. */
const IN_CARGO_TABLE =
  /^\s*\[\s*(?:[^\]]{0,200}\.\s*)?["']?(?:dev-|build-)?dependencies["']?\s*\.\s*["']?([\w-]+)["']?\s*\]/;
const IN_TOML_LIST =
  /^\s*(?:[\w-]+\s*=\s*\[\s*)?["']([A-Za-z][\w.-]*)(?:\[[\w,. -]*\])?\s*((?:[<>=~!]=?|===)\s*[^"';]+)?["'; ]/;
const IN_REQUIREMENTS =
  /^\s*([A-Za-z\d][\w.-]*)(?:\[[\w,. -]*\])?\s*\(?((?:[<>=~!]=?|===)\s*[^\s;#()]+)?\)?\s*(?:(?:[;#\\]|--hash=).*)?$/;
const IN_GO = /^\s*(?:require\s+)?["`]?([\w.-]+\.[\w.-]+\/[^\s"`]+|[\w-]+\.[a-z]{2,})["`]?\s+["`]?(v\d[^\s"`]*)/;
const IN_GEMFILE = /^\s*gem[\s(]+["']([\w.-]+)["'](?:\s*,\s*["']([^"']+)["'])?/;

/** A range of versions: `^1.2.3`, `>=2,<3`, `~> 4`, `1.x`, `*`, `latest`. */
const RANGE = /^(?:(?:npm|jsr):\S{1,200}@)?(?:[\^~<>=!]{0,3}\s{0,2}v?\d[\w.+*-]*|[*x]|latest|next)(?:$|[\s,|-])/;
/**
 * Names of settings in each manifest, not of packages: the version of the package itself, of its language and of its tools. Whole
 * names: `x-node` is a package. Others can be those of packages.
 */
const SETTINGS: ReadonlyMap<string, RegExp> = new Map([
  ['pyproject.toml', /^(?:(?:(?:python|target|required|current|fallback)[-_]|min_?)?version|requires-python|python)$/i],
  ['cargo.toml', /^(?:(?:rust-)?version|edition|resolver)$/],
  ['pipfile', /^python(?:_full)?_version$/],
]);
/** Those of `engines` in JSON. */
export const JSON_SETTINGS = /^(?:version|node|npm|pnpm|yarn|bun|vscode|packagemanager)$/i;
/** How Deno names a package, whatever the key is. */
const ALIAS = /^(?:npm|jsr):\/?(@?[^@"]+)/;

/** The packages that the lines of one kind declare. */
export function declaredIn(view: FileView, kind: PatchLine['kind']): readonly Declared[] {
  const { base } = view.name;
  if (base.endsWith('.json') || base.endsWith('.json5') || base.endsWith('.jsonc')) return declaredInJson(view, kind);
  if (base === 'setup.cfg') return declaredInSetupCfg(view, kind);
  const read = readerOf(view.name);
  if (read === null) return [];
  const settings = SETTINGS.get(base);
  const bare = base === 'pyproject.toml' ? listedIn(view, kind) : [];
  const withVersion = view.lines(kind).flatMap((line) => {
    const found = line.text.length > MAX_LINE ? null : read(line.text.replace(/\r$/, ''));
    return found === null || (found.isKey && settings?.test(found.name) === true)
      ? []
      : [{ name: found.name, version: found.version, line }];
  });
  return [...bare, ...withVersion];
}

/** The start of a list of packages in pyproject.toml, or an item with a version in it. */
const PYTHON_LIST =
  /^\s*["']?(?:[\w-]*dependencies|requires)["']?(?:\s*\.\s*["']?[\w.-]+["']?)?\s*=\s*[[{]|^\s*(?:[\w-]+\s*=\s*\[\s*)?["'][A-Za-z\d][\w.-]*(?:\[[\w,. -]*\])?\s*\(?[<>=~!]=/;
const PYTHON_GROUPS = /^\[(?:dependency-groups|project\.optional-dependencies)\]/;
const TEXT = /"([^"]*)"|'([^']*)'/g;
/** A package with its extras and its version. */
const REQUIREMENT = /^\s*([A-Za-z\d][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?\s*((?:[<>=~!]=?|===)[^;)]*)?/;

/** Packages in pyproject.toml, which other lists of words resemble: only where the hunk shows what the list is. */
function listedIn(view: FileView, kind: PatchLine['kind']): Declared[] {
  return view.file.hunks.flatMap(({ lines }) => {
    let [isGroup, isList] = [false, false];
    return lines.flatMap((line) => {
      const { text } = line;
      if ((line.kind !== kind && line.kind !== ' ') || text.length > MAX_LINE) return [];
      if (/^\s*\[\s*[\w"']/.test(text) && /\]\s*(?:#.*)?$/.test(text))
        isGroup = PYTHON_GROUPS.test(text.replaceAll(/["'\s]/g, ''));
      if (PYTHON_LIST.test(text) || (isGroup && /=\s*\[/.test(text))) isList = true;
      const items = isList && line.kind === kind ? textsIn(text) : [];
      const structure = text.replaceAll(/"[^"]*"|'[^']*'/g, '').replace(/#.*/, '');
      if (/\][\s,}]*$/.test(structure)) isList = false;
      return items.map((item) => ({ ...requirementIn(item), line }));
    });
  });
}

/** The texts of a line that are neither a key nor the value of one, such as the name of a group that a list includes. */
function textsIn(line: string): readonly string[] {
  return [...line.matchAll(TEXT)].flatMap(({ 0: all, 1: double, 2: single, index }) => {
    const isOfKey = /=\s*$/.test(line.slice(0, index)) || /^\s*=/.test(line.slice(index + all.length));
    return isOfKey ? [] : [double ?? single ?? ''];
  });
}

/** What is in no known form is read as a name, so that it is a new package. */
function requirementIn(item: string): Omit<Declared, 'line'> {
  const [, name = item, version = ''] = REQUIREMENT.exec(item) ?? [];
  return item.includes('\\') ? { name: item, version: '' } : { name, version: version.trim() };
}

/** Packages of setup.cfg: in lists that require them, and with a version also where the hunk does not show what the list is. */
function declaredInSetupCfg(view: FileView, kind: PatchLine['kind']): Declared[] {
  return view.file.hunks.flatMap(({ lines }) => {
    let [isExtras, isList] = [false, false];
    return lines.flatMap((line) => {
      const text = line.text.replace(/\r$/, '');
      if ((line.kind !== kind && line.kind !== ' ') || text.length > MAX_LINE) return [];
      if (text.startsWith('[')) isExtras = isList = text.startsWith('[options.extras_require]');
      const [key, name] = /^([\w.-]+)\s*[=:]\s*/.exec(text) ?? [];
      if (name !== undefined) isList = isExtras || /^(?:install|setup|tests)[_-]requires?$/i.test(name);
      const isItem = isList || /^\s+[\w.,[\] -]+[<>=~!]=/.test(text);
      const found = isItem && line.kind === kind ? matched(IN_REQUIREMENTS, text.slice(key?.length), () => true) : null;
      return found === null ? [] : [{ ...found, line }];
    });
  });
}

/** The key of an alias of Composer, whose value is a version: `"dev-main": "2.x-dev"`. */
const BRANCH = /^dev-[^/]+$/;

function declaredInJson(view: FileView, kind: PatchLine['kind']): readonly Declared[] {
  const lines = view.lines(kind);
  const text = withoutEscapes(view.text(kind));
  const found: Declared[] = [];
  const isComposer = view.name.base === 'composer.json';
  const isVersion = (name: string, version: string): boolean =>
    (isComposer && /^[\w.-]+\/[\w.-]+$/.test(name)) || (RANGE.test(version) && !(isComposer && BRANCH.test(name)));
  let [at, index] = [0, 0];
  for (const { 1: name = '', 2: version = '', index: start } of text.matchAll(IN_JSON)) {
    for (; at < start; at++) if (text[at] === '\n') index++;
    const line = lines[index];
    const alias = ALIAS.exec(version)?.[1];
    if (line !== undefined && alias !== undefined && isDeno(view)) found.push({ name: alias, version, line });
    else if (line !== undefined && isVersion(name, version.trim()) && !JSON_SETTINGS.test(name))
      found.push({ name, version, line });
  }
  return found;
}

/** `isKey`: the name is the key of a table, which can be that of a setting. */
type Reader = (text: string) => (Omit<Declared, 'line'> & { readonly isKey: boolean }) | null;

function readerOf(name: PathName): Reader | null {
  if (isRequirements(name)) return (text) => matched(IN_REQUIREMENTS, text, () => true);
  switch (name.base) {
    case 'pyproject.toml':
      return (text) => matched(IN_TOML, text) ?? matched(IN_TOML_LIST, text, (version) => version !== '');
    case 'cargo.toml':
      return (text) => matched(IN_TOML, text) ?? matched(IN_CARGO_TABLE, text, () => true);
    case 'pipfile':
    case 'libs.versions.toml':
      return (text) => matched(IN_TOML, text);
    case 'go.mod':
      return (text) => matched(IN_GO, text);
    case 'gemfile':
    case 'gems.rb':
      return (text) => matched(IN_GEMFILE, text, () => true);
    case 'pnpm-workspace.yaml':
    case 'package.yaml':
    case '.yarnrc.yml':
      return (text) => matched(IN_YAML, text);
    default:
      return null;
  }
}

function matched(
  pattern: RegExp,
  text: string,
  isVersion = (version: string): boolean => RANGE.test(version),
): ReturnType<Reader> {
  const match = pattern.exec(text);
  if (match === null) return null;
  const version = (match[2] ?? match[3] ?? '').trim();
  return isVersion(version) ? { name: match[1] as string, version, isKey: pattern === IN_TOML } : null;
}
