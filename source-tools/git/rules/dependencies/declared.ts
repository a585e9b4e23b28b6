import type { PatchLine } from '../../facts/git-facts';
import type { FileView } from '../patch-view';
import { isRequirements } from './ecosystems';
import { withoutEscapes } from './json-escapes';

/** A package with the version or range that a line of a manifest requires. */
export interface Declared {
  readonly name: string;
  readonly version: string;
  readonly line: PatchLine;
}

/** A package name, with a version as its value, anywhere in a text: JSON has no lines. */
const IN_JSON = /"((?:@[\w.-]+\/)?[\w./-]+)"\s*:\s*"([^"]*)"/g;
/** The same in a line. Patterns are anchored and have no nested repetition. */
const IN_YAML = /^\s+['"]?((?:@[\w.-]+\/)?[\w./-]+)['"]?\s*:\s+['"]?([\^~<>=]{0,2}\s?v?\d[^'"#\s]*)/;
const IN_TOML = /^\s*"?([\w.-]+)"?\s*=\s*(?:"([^"]*)"|\{[^}]*\bversion\s*=\s*"([^"]*)")/;
/** `[dependencies.name]`, also below `target`; the version is in a line of its own. */
const IN_CARGO_TABLE = /^\s*\[(?:[^\]]{0,200}\.)?(?:dev-|build-)?dependencies\."?([\w-]+)"?\s*\]/;
const IN_TOML_LIST =
  /^\s*(?:[\w-]+\s*=\s*\[\s*)?["']([A-Za-z][\w.-]*)(?:\[[\w,. -]*\])?\s*((?:[<>=~!]=?|===)\s*[^"';]+)?["'; ]/;
const IN_REQUIREMENTS = /^\s*([A-Za-z][\w.-]*)(?:\[[\w,. -]*\])?\s*((?:[<>=~!]=?|===)\s*[^\s;#]+)?\s*(?:[;#\\].*)?$/;
const IN_GO = /^\s*(?:require\s+)?([\w.-]+\.[\w.-]+\/[^\s]+|[\w-]+\.[a-z]{2,})\s+(v\d[^\s]*)/;
const IN_GEMFILE = /^\s*gem\s+["']([\w.-]+)["'](?:\s*,\s*["']([^"']+)["'])?/;

/** A range of versions: `^1.2.3`, `>=2,<3`, `~> 4`, `1.x`, `*`, `latest`. */
const RANGE = /^(?:npm:\S{1,200}@)?(?:[\^~<>=!]{0,3}\s{0,2}v?\d[\w.+*-]*|[*x]|latest|next)(?:$|[\s,|-])/;
/** Names of settings, not of packages: the version of the package itself, of its language and of its tools. */
const SETTINGS =
  /(?:^|[-_.])(?:version|engines?|edition|node|npm|pnpm|yarn|bun|python|go|toolchain|packagemanager|vscode)$/i;
const MAX_LINE = 1000;

/** The packages that the lines of one kind declare. */
export function declaredIn(view: FileView, kind: PatchLine['kind']): readonly Declared[] {
  const { base } = view.name;
  if (base.endsWith('.json') || base.endsWith('.json5') || base.endsWith('.jsonc')) return declaredInJson(view, kind);
  const read = readerOf(base);
  if (read === null) return [];
  return view.lines(kind).flatMap((line) => {
    const found = line.text.length > MAX_LINE ? null : read(line.text.replace(/\r$/, ''));
    return found === null || SETTINGS.test(found.name) ? [] : [{ ...found, line }];
  });
}

function declaredInJson(view: FileView, kind: PatchLine['kind']): readonly Declared[] {
  const lines = view.lines(kind);
  const text = withoutEscapes(view.text(kind));
  const found: Declared[] = [];
  let [at, index] = [0, 0];
  for (const { 1: name = '', 2: version = '', index: start } of text.matchAll(IN_JSON)) {
    for (; at < start; at++) if (text[at] === '\n') index++;
    const line = lines[index];
    if (line !== undefined && RANGE.test(version) && !SETTINGS.test(name)) found.push({ name, version, line });
  }
  return found;
}

type Reader = (text: string) => Omit<Declared, 'line'> | null;

function readerOf(base: string): Reader | null {
  if (isRequirements(base)) return (text) => matched(IN_REQUIREMENTS, text, () => true);
  switch (base) {
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
  return isVersion(version) ? { name: match[1] as string, version } : null;
}
