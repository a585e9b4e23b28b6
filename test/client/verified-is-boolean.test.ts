import type { GuardBlock } from '../../client/guard-block';
import type { Verification } from '../../client/receipt';
import type { ReviewResult } from '../../client/result';

/** The members of a union whose `verified` is anything but a boolean: a text such as 'unverified' would be truthy. */
type NotBoolean<T> = T extends { readonly verified: infer V } ? (V extends boolean ? never : T) : never;
type Results = ReviewResult | Verification | GuardBlock;

test('`verified` is a boolean in every result type', () => {
  const none: [NotBoolean<Results>] extends [never] ? true : false = true;
  // The check finds a member that is not a boolean.
  const found: [NotBoolean<Results | { readonly verified: true | 'unverified' }>] extends [never] ? true : false =
    false;
  expect([none, found]).toEqual([true, false]);
});
