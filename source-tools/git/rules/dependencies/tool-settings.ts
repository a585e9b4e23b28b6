import type { Hit } from '../../../../policy/rules/hit';
import type { PatchLine } from '../../facts/git-facts';
import { shown } from '../../../../policy/text/shown-name';
import { wordSet } from '../../../../policy/text/word-list';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { entryHits, otherPathHits } from './entry-points';
import { withoutEscapes } from './json-escapes';
import { MAX_LINE } from './long-lines';
import { composerSetting } from './composer-members';
import { denoSetting } from './deno-members';
import { jsonFormHits } from './json-form';
import { newMemberHits } from './json-members';
import { cargoHits } from './cargo-settings';
import { pipfileHits } from './pipfile-settings';
import { pnpmHits } from './pnpm-settings';
import { poetryHits } from './poetry-settings';
import { pythonHits } from './python-settings';
import { SETTING } from './setting';
import { movedTomlHits } from './toml-lines';
import { isOlder } from './versions';

/**
 * Manifests also contain settings of tools, with which a tool loads or runs code, as with a file of its own. An added line is
 * held if it begins the settings of a tool, or names code in them.
 */
export function toolSettingHits(view: FileView): Hit[] {
  switch (view.name.base) {
    case 'package.json':
      return [...jsonFormHits(view, false), ...addedToolHits(view), ...entryHits(view)];
    case 'deno.json':
    case 'deno.jsonc':
    case 'jsr.json':
      return [...jsonFormHits(view, true), ...newMemberHits(view.file, denoSetting), ...otherPathHits(view.file)];
    case 'composer.json':
      return [...jsonFormHits(view, false), ...newMemberHits(view.file, composerSetting)];
    case 'cargo.toml':
      return cargoHits(view);
    case 'pipfile':
      return pipfileHits(view);
    case 'pnpm-workspace.yaml':
      return pnpmHits(view);
    case 'go.mod':
      return olderGoHits(view);
    case 'pyproject.toml':
      return [...pythonHits(view, SETTING), ...poetryHits(view)];
    case 'setup.cfg':
      return [...pythonHits(view, SETTING), ...movedTomlHits(view.file, (section) => section)];
    default:
      return [];
  }
}

function addedToolHits(view: FileView): Hit[] {
  return view
    .lines('+')
    .filter(({ text }) => namesTool(withoutEscapes(text.slice(0, MAX_LINE))))
    .map((line) => atLine(view.file, line, SETTING));
}

/** Members of package.json that are objects and describe the package, and the conditions in `exports`. */
const OBJECTS = wordSet(`
  author bugs repository funding engines scripts directories man bin exports imports types typesversions browser
  dependencies devdependencies peerdependencies peerdependenciesmeta optionaldependencies overrides resolutions pnpm
  workspaces publishconfig devengines import require node default development production worker workerd deno bun
  edge-light react-native module catalog catalogs contributes
`);
/** Members whose value is a file of the package that its users import or run. */
const FILES = wordSet(`
  main module exports types typings browser bin man directory source style sass svelte import require default node unpkg
  jsdelivr esm cjs development production worker workerd deno bun react-native url
`);
const OBJECT = /"([^"]{1,200})"\s*:\s*\{/g;
/** `"setupFiles": ["./x.js"]`, and `"preset": "./x"`. A program of the shell is a command. */
const LOCAL = /"([^"]{1,200})"\s*:\s*\[?\s*"(?:\.{1,2}|<rootDir>)\/[^"\s]{1,300}"/g;
/** The same without a dot. Other members can be called like a file, such as the package itself. */
const BARE = /"([^"]{1,200})"\s*:\s*\[?\s*"[\w@.-]{1,100}(?:\/[\w@.-]{1,100}){0,9}\.[cm]?[jt]sx?"/g;
const CALLED = wordSet('name displayname description title author keywords');
const NOT_CODE = /\.(?:sh|d\.[cm]?ts)"$/;

function namesTool(text: string): boolean {
  return (
    [...text.matchAll(OBJECT)].some(([, name = '']) => isName(name) && !OBJECTS.has(name.toLowerCase())) ||
    [...text.matchAll(LOCAL)].some(isLoaded) ||
    [...text.matchAll(BARE)].some((found) => !CALLED.has((found[1] ?? '').toLowerCase()) && isLoaded(found))
  );
}

function isLoaded([all, name = '']: RegExpExecArray): boolean {
  return IMPORTED.test(name) && !FILES.has(name.toLowerCase()) && !NOT_CODE.test(all);
}

/** A name or a package, but not a path of `exports` or a name of `imports`. */
const IMPORTED = /^(?:@[\w.-]+\/)?[\w-][\w.-]*$/;
/** Not a package, a path, a range of versions, or a setting of an extension. */
const isName = (name: string): boolean => /^[\w-]+$/.test(name);

const GO = /^\s*(go|toolchain)\s+(?:go)?(\d\S*)/;

/** An older version of the language switches on older defaults of security, as `godebug` does: https://go.dev/doc/godebug */
function olderGoHits(view: FileView): Hit[] {
  const versions = (kind: PatchLine['kind']): GoVersions => new Map(view.lines(kind).flatMap(versionIn));
  const [before, after] = [versions('-'), versions('+')];
  const older = [...after].flatMap(([name, { line, version }]) => {
    const old = before.get(name)?.version;
    if (old === undefined || !isOlder(version, old)) return [];
    return [atLine(view.file, line, `takes ${name} back from ${shown(old)} to ${shown(version)}`)];
  });
  const removed = before.get('go');
  if (removed === undefined || after.has('go') || view.file.change === 'delete') return older;
  return [...older, atLine(view.file, removed.line, 'removes the version of go, so that 1.16 applies')];
}

type GoVersions = ReadonlyMap<string, { readonly line: PatchLine; readonly version: string }>;

function versionIn(line: PatchLine): [string, { line: PatchLine; version: string }][] {
  const [, name, version] = GO.exec(line.text) ?? [];
  return name === undefined || version === undefined ? [] : [[name, { line, version }]];
}
