import { wordList, wordSet } from '../../../policy/text/word-list';

/** Verbs that seldom name a collection of resources, so that `/syncs/42` is rather an action. */
const VERBS = wordSet(`
  abort accept acknowledge activate allow apply approve assign attach broadcast cancel clean clear close complete confirm
  deactivate decline delete deny deprovision destroy detach disable discard dismiss dispatch enable enqueue erase evict
  exec execute expire finalize flush halt impersonate install invalidate invoke kill logout migrate notify nuke override
  pause prune publish purge quarantine reassign reboot rebuild reindex reinstate reject reload remove rename reopen
  reprocess resend reset restart restore resume resync retry revert revoke rollback rotate send shutdown signout start
  submit subscribe suspend sync synchronize terminate transmit truncate unassign unblock uninstall unlock unpublish
  unsubscribe upgrade validate verify void wipe withdraw
`);

/** Verbs that also name resources, such as the releases of a project, and groups. */
const OTHERS = wordList(`
  archive block charge commit copy deploy drop export fire forward grant import invite launch lock merge move promote
  pull push refund release replay share ship stop sweep swap transfer trigger update upload put
  all any bulk every everyone everything mass none
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

/** Whether one of the words is part of the text, or all of its letters between two other characters. `text`: in lower case. */
export function containsAction(text: string): boolean {
  return LONG.some((word) => text.includes(word)) || text.split(/[^a-z]+/).some(isAction);
}
