import { isIdPrefix, type ReviewPage, type ReviewQuery } from '../policy/evidence/ledger-port';
import { CountersignError, invalidInput } from './errors';
import type { ClientLedger, ListFilter } from './ports';
import { fromLedger } from './review-errors';

/** One page of reviews, newest first. Throws `invalid_input`, and `ledger_unavailable` if the ledger cannot be read. */
export async function listReviews(ledger: Pick<ClientLedger, 'list'>, filter: ListFilter): Promise<ReviewPage> {
  const query = queryOf(filter);
  try {
    return await fromLedger(() => ledger.list(query), 'Reviews cannot be listed');
  } catch (error) {
    // The ledger throws RangeError for an `after` that it did not give.
    if (error instanceof CountersignError && error.cause instanceof RangeError)
      throw invalidInput('after', '`next` of the previous page', 'another text', 'Start without `after`');
    throw error;
  }
}

function queryOf({ limit = 50, ...filter }: ListFilter): ReviewQuery {
  if (!Number.isInteger(limit) || limit < 1 || limit > 500)
    throw invalidInput('limit', '1 to 500', String(limit), 'Page with `after`');
  const { idPrefix } = filter;
  if (idPrefix !== undefined && !isIdPrefix(idPrefix))
    throw invalidInput('idPrefix', '8 to 64 lower-case hex digits', `"${idPrefix}"`, 'Use more digits of the id');
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  return { limit, ...(Object.fromEntries(given) as Omit<ReviewQuery, 'limit'>) };
}
