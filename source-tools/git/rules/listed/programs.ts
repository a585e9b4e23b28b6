import type { PathName } from '../../../../policy/text/glob';
import { wordSet } from '../../../../policy/text/word-list';
import type { Language } from './languages';
import type { NameParts } from './name-parts';
import { isBelowSources, loadedFolder, operatedFolder } from './places';
import { hasDataWord, hasToolWord, hasUnknownWord, isFoundByName, isRootScript } from './script-names';

const BY_NAME = 'has a name by which tools find files that they run or obey';

/** Why a person sees a program; null for an ordinary module. */
export function programReason(name: PathName, parts: NameParts, language: Language): string | null {
  const folder = loadedFolder(name) ?? ownFolder(name, language);
  if (folder !== null) return `is in the folder "${folder}", from which tools take files that they run or obey`;
  switch (language) {
    case 'compiled':
      return isBuildDefinition(name, parts) ? BY_NAME : null;
    case 'component':
      return hasToolWord(parts) || hasDataWord(parts) ? BY_NAME : null;
    case 'script':
    case 'framework':
      if (hasUnknownWord(name, parts) || isFoundByName(name, parts)) return BY_NAME;
      return isRootScript(name, parts) ? 'is a script in the root of the tree or of its site' : null;
    default:
      return language satisfies never;
  }
}

function ownFolder(name: PathName, language: Language): string | null {
  if (language === 'component') return null;
  const folder = operatedFolder(name, language);
  return folder === 'hooks' && isReactHook(name) ? null : folder;
}

/** React names its hooks `useOrder` or `use-order`. */
function isReactHook({ path }: PathName): boolean {
  return /^use[A-Z-].*\.[jt]s$/.test(path.slice(path.lastIndexOf('/') + 1));
}

/** Attributes of an assembly, such as findings of the compiler that are switched off. */
const CODE_OF_COMPILER = wordSet('globalsuppressions assemblyinfo build');

/** Whether a file of a compiled language is part of the build, or is deployed as a definition. */
function isBuildDefinition(name: PathName, { stem, words, extension }: NameParts): boolean {
  const { folders } = name;
  switch (extension) {
    case 'go':
      return stem === 'magefile';
    case 'swift':
      return stem === 'package' || folders.length === 0 || folders[0] === 'plugins';
    case 'scala':
      return folders[0] === 'project' || folders.at(-1) === 'project';
    case 'cs':
    case 'vb':
      return (
        CODE_OF_COMPILER.has(stem) ||
        folders.some((folder) => /(?:^|\.)(?:(?:source|code)?generators?|analyzers?|codefixes)$/.test(folder))
      );
    case 'graphql':
    case 'gql':
      return words.includes('schema') || folders.some((folder) => folder === 'schema' || folder === 'schemas');
    default:
      return stem === 'build' && !isBelowSources(name);
  }
}
