import type { PathName } from '../../../policy/text/glob';

const LICENCE_FILE =
  /^(?:(?:mit|apache|bsd)-)?(?:un)?licen[cs]es?(?:[-_.].*)?$|^(?:copying|copyrights?|notices?|patents|third-?party-?(?:notices|licen[cs]es))(?:[-_.].*)?$/;
/** Code about licenses, such as `license.ts`. */
const CODE = /\.(?:[cm]?[jt]sx?|vue|svelte|py|rb|go|rs|java|kt|swift|cs|php|c|cc|cpp|h|hpp|ex|dart|css|scss|json)$/;

export function isLicenceFile({ base, folders }: PathName): boolean {
  return !CODE.test(base) && (LICENCE_FILE.test(base) || folders.at(-1) === 'licenses');
}
