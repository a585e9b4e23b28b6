import type { Hit } from '../../../../policy/rules/hit';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { addedTomlLines, movedTomlHits, packageLine, TEXT, TEXTS, VERSION_RANGE, type TomlLine } from './toml-lines';

const UNREAD = 'names packages in a form that this rule cannot read';

/** https://python-poetry.org/docs/dependency-specification/ */
const PACKAGES = /^tool\.poetry\.(?:group\.[^.]+\.)?(?:dev-)?dependencies/;
const PACKAGE = packageLine([
  String.raw`python\s*=\s*${VERSION_RANGE}`,
  String.raw`extras\s*=\s*${TEXTS}`,
  String.raw`(?:markers|platform)\s*=\s*${TEXT}`,
  String.raw`(?:optional|allow-prereleases)\s*=\s*(?:true|false)`,
]);
const PYTHON = /^["']?python["']?\s*=\s*["'][^"'\\]*["']\s*(?:#.*)?$/;

/** Added lines of the packages of Poetry from which no package and version are read. */
export function poetryHits({ file }: FileView): Hit[] {
  const unread = addedTomlLines(file).filter(isUnread);
  return [...unread.map(({ line }) => atLine(file, line, UNREAD)), ...movedTomlHits(file, groupOf)];
}

/** Packages, or the settings of one tool. */
const groupOf = (table: string): string =>
  PACKAGES.test(table) ? 'packages' : (/^(?:tool\.)?[\w-]+/.exec(table)?.[0] ?? table);

function isUnread({ text, table, isHeader }: TomlLine): boolean {
  if (table === 'tool.poetry') return !isHeader && /^["']?(?:group|(?:dev-)?dependencies)["']?\s*[.=]/.test(text);
  if (table === null || !PACKAGES.test(table)) return false;
  if (isHeader) return !table.endsWith('dependencies');
  return !PACKAGE.test(text) && !PYTHON.test(text);
}
