import { coveringGlob, type PathName } from '../../../../policy/text/glob';
import { shown } from '../../../../policy/text/shown-name';
import { isMedia, isOrdinaryData, isTranslation } from './data';
import { documentReason, isDocument, isPage, isText } from './documents';
import { LISTED_HIDDEN } from './hidden';
import { nameParts } from './name-parts';
import { languageOf } from './languages';
import { programReason } from './programs';

export function isHidden({ base, folders }: PathName): boolean {
  return base.startsWith('.') || folders.some((folder) => folder.startsWith('.'));
}

/** Why the name of a file is not on the list, as what follows the path in a finding; null if it is. */
export function unlistedReason(name: PathName): string | null {
  if (name.path.toUpperCase().toLowerCase() !== name.lower)
    return 'has a letter that some file systems read as other letters';
  const parts = nameParts(name);
  if (isHidden(name)) {
    if (coveringGlob(LISTED_HIDDEN, name) === undefined) return 'is hidden, and tools obey many hidden files';
    return isDocument(parts) ? documentReason(name, parts) : null;
  }
  if (isOrdinaryData(name, parts)) return null;
  const language = languageOf(parts);
  if (language !== null) return programReason(name, parts, language);
  if (isText(parts)) return documentReason(name, parts);
  if (isPage(parts) || parts.extension === 'svg' || isTranslation(parts) || isMedia(parts)) return null;
  return parts.extension === '' ? 'has no extension' : `has the extension ${shown(`.${parts.extension.slice(0, 60)}`)}`;
}
