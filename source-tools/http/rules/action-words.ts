import { wordList, wordSet } from '../../../policy/text/word-list';

/** Verbs that seldom name a collection of resources, so that `/syncs/42` is rather an action. */
const VERBS = wordSet(`
  abort accept acknowledge activate allow apply approve assign attach broadcast cancel clean clear close complete confirm
  deactivate decline del delete deny deprovision destroy detach disable discard dismiss dispatch dlt enable enqueue erase
  escalate evict exec execute expire finalize flush halt impersonate install invalidate invoke kill logout migrate notify nuke override
  pause prune publish purge quarantine reassign reboot rebuild redeliver reindex reinstate reject reload remove rename reopen
  reprocess resend reset resize restart restore resume resync retry revert revoke rm rollback rotate send shutdown signout start
  submit subscribe suspend sync synchronize terminate transmit truncate unassign unblock uninstall unlock unpublish
  undo unsubscribe upgrade validate verify void wipe withdraw
`);

/** Verbs that also name resources, such as the releases of a project, and groups. */
const OTHERS = wordList(`
  archive block charge commit copy deploy drop export fire forward grant import invite launch lock merge move promote
  pull push refund release replay share ship stop sweep swap transfer trigger update upload put
  all any anybody anyone bulk each entire every everybody everyone everything last many mass multiple none several top
`);

const ACTIONS: ReadonlySet<string> = new Set([...VERBS, ...OTHERS]);
/** Words that hardly occur in a random token by chance. */
const LONG = [...ACTIONS].filter(({ length }) => length >= 4);

/** Whether a noun in the plural, in lower case, has the form of a verb: `syncs`, `flushes`, `retries`. */
export function isPluralOfVerb(plural: string): boolean {
  return VERBS.has(plural.slice(0, -1)) || VERBS.has(plural.slice(0, -2)) || VERBS.has(`${plural.slice(0, -3)}y`);
}

/** `word`: in lower case. */
export const isAction = (word: string): boolean => ACTIONS.has(word);

/** Between two numbers, such as `1to100`: a range or a list. */
const BETWEEN_NUMBERS = /\d(?:to|of|or|and|until|bis)\d/;

/**
 * Whether one of the long words is part of the text, or a short one is all letters between two other characters or changes of the
 * case, as in `setAll2Off`; or whether the text has a range or a list of numbers.
 */
export function containsAction(text: string): boolean {
  const lower = text.toLowerCase();
  if (LONG.some((word) => lower.includes(word)) || BETWEEN_NUMBERS.test(lower)) return true;
  const words = text.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/);
  // Two letters occur between two digits by chance.
  return words.some((word) => word.length > 2 && isAction(word.toLowerCase()));
}
