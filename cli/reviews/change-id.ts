import { CountersignError } from '../../client/errors';
import { isIdPrefix, MIN_ID_PREFIX } from '../../policy/evidence/ledger-port';
import type { Io } from '../action';
import { isHex64 } from '../options';
import { UsageError } from '../usage-error';
import type { Connected } from './connection';

/** What the help says of an argument that names a change. */
export const CHANGE_ID = `the change id, or its first ${MIN_ID_PREFIX} or more digits`;
/** The same for commands that sign a statement about the change. */
export const CHANGE_ID_TO_SIGN = `the change id (without a gateway, ${MIN_ID_PREFIX} digits do)`;
const MAX_NAMED = 5;

/** The first digits of a change id or violation id, as screens show it and commands accept it. */
export function shortId(id: string): string {
  return id.slice(0, MIN_ID_PREFIX);
}

/** As `shortId` for ids that are shown together, with as many digits as distinguish all of them: a printed command names one violation. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  const all = [...new Set(ids)];
  let digits = MIN_ID_PREFIX;
  while (new Set(all.map((id) => id.slice(0, digits))).size < all.length) digits += 1;
  return (id) => id.slice(0, digits);
}

/**
 * The id of the one change that `given` names, in full or by its first digits. Throws a UsageError if it is not hex or too short or
 * if several changes start with it, and `not_found` if none does. `name`: the argument or option, for the message.
 */
export async function resolveChangeId(
  reviews: Pick<Connected['reviews'], 'list'>,
  given: string,
  name = 'id',
): Promise<string> {
  assertIdPrefix(given, name);
  if (isHex64(given)) return given;
  const page = await reviews.list({ idPrefix: given, limit: MAX_NAMED });
  const [only, ...others] = page.reviews;
  if (only === undefined)
    throw new CountersignError(
      'not_found',
      `The ledger has no review whose id starts with ${given}; \`countersign list\` shows ids`,
    );
  if (others.length === 0 && page.next === null) return only.changeId;
  const named = page.reviews.map(({ changeId, summary }) => `${changeId}  ${summary}`);
  const more = page.next === null ? [] : ['…'];
  throw new UsageError(
    [`${name}: several reviews start with ${given}; give more digits:`, ...named, ...more].join('\n'),
  );
}

function assertIdPrefix(given: string, name = 'id'): void {
  if (!isIdPrefix(given))
    throw new UsageError(
      `${name}: expected ${CHANGE_ID}, lower-case hex, got "${given}"; \`countersign list\` shows ids`,
    );
}

/**
 * As `resolveChangeId`, for commands that sign a statement about the change. The list of a gateway is not trusted: by the first digits it
 * could find another review than the one that `show` printed, so through a gateway only the full id is accepted. `name`: the argument or
 * option, for the message.
 */
export async function changeIdToSign(
  { reviews, temporal }: Pick<Connected, 'reviews' | 'temporal'>,
  given: string,
  name = 'id',
): Promise<string> {
  if (temporal === null && !isHex64(given))
    throw new UsageError(
      `${name}: expected the full change id, as \`countersign show\` prints it, got "${given}"; by its first digits a gateway could find another review than the one that you saw`,
    );
  return await resolveChangeId(reviews, given, name);
}

/** As `changeIdToSign`, for commands that otherwise need no connection to reviews. */
export async function changeIdArgument(io: Io, given: string): Promise<string> {
  assertIdPrefix(given);
  if (isHex64(given)) return given;
  return await io.withReviews({}, (connected) => changeIdToSign(connected, given));
}
