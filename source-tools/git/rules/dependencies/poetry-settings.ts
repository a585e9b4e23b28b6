import type { Hit } from '../../../../policy/rules/hit';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { addedTomlLines, VERSION_RANGE, type TomlLine } from './toml-lines';

const UNREAD = 'names packages in a form that this rule cannot read';

/** https://python-poetry.org/docs/dependency-specification/ */
const PACKAGES = /^tool\.poetry\.(?:group\.[^.]+\.)?(?:dev-)?dependencies/;
const TEXT = String.raw`(?:"[^"\\}]*"|'[^'}]*')`;
const MEMBER = [
  String.raw`(?:version|python)\s*=\s*${VERSION_RANGE}`,
  String.raw`extras\s*=\s*\[\s*(?:${TEXT}\s*(?:,\s*${TEXT}\s*)*,?\s*)?\]`,
  String.raw`(?:markers|platform)\s*=\s*${TEXT}`,
  String.raw`(?:optional|allow-prereleases)\s*=\s*(?:true|false)`,
].join('|');
const PACKAGE = new RegExp(
  String.raw`^["']?[\w.-]+["']?\s*=\s*(?:${VERSION_RANGE}|\{\s*(?:(?:${MEMBER})\s*,\s*)*version\s*=\s*${VERSION_RANGE}(?:\s*,\s*(?:${MEMBER}))*\s*\})\s*(?:#.*)?$`,
);
const PYTHON = /^["']?python["']?\s*=\s*["'][^"'\\]*["']\s*(?:#.*)?$/;

/** Added lines of the packages of Poetry from which no package and version are read. */
export function poetryHits({ file }: FileView): Hit[] {
  return addedTomlLines(file)
    .filter(isUnread)
    .map(({ line }) => atLine(file, line, UNREAD));
}

function isUnread({ text, table, isHeader }: TomlLine): boolean {
  if (table === 'tool.poetry') return !isHeader && /^["']?(?:group|(?:dev-)?dependencies)["']?\s*[.=]/.test(text);
  if (table === null || !PACKAGES.test(table)) return false;
  if (isHeader) return !table.endsWith('dependencies');
  return !PACKAGE.test(text) && !PYTHON.test(text);
}
