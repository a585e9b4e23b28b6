import { toMs } from '../contracts/duration';
import { problem, type Path, type Problem } from './issue';
import type { Bundle } from './schema';

/** Groups that are never asked, times that are too short to answer, and policies without a person or a callback. */
export function peopleLints(bundle: Bundle): Problem[] {
  return [...unaskedGroups(bundle), ...shortTimes(bundle), ...silentPolicies(bundle)];
}

function unaskedGroups({ groups, defaultGroup, implicit, policies }: Bundle): Problem[] {
  const asked = new Set([implicit.group ?? defaultGroup, ...policies.map(({ group }) => group ?? defaultGroup)]);
  return Object.keys(groups).flatMap((name) =>
    asked.has(name)
      ? []
      : [
          problem(
            ['groups', name],
            `Group "${name}" is never asked: it is not the group of a policy, nor of changes that no policy matches`,
            'Name it as "group" of a policy, or remove it.',
            true,
          ),
        ],
  );
}

/** A person who is notified at once needs longer than this. */
const MIN_DEADLINE_MS = 60_000;
/** The committer needs about this long if many changes wait. */
const MIN_COMMIT_WINDOW_MS = 10_000;

function shortTimes({ deadline, commitWindow, implicit, policies }: Bundle): Problem[] {
  const asking: readonly (readonly [Path, string | undefined])[] = [
    [['implicit', 'deadline'], implicit.deadline],
    // Of a policy whose callback decides alone no person is asked.
    ...policies.flatMap((policy, i) =>
      policy.requiresConfirmation ? [[['policies', i, 'deadline'], policy.deadline] as const] : [],
    ),
  ];
  const isUsed = asking.some(([, own]) => own === undefined);
  const deadlines = isUsed ? [[['deadline'], deadline] as const, ...asking] : asking;
  const found = deadlines.flatMap(([path, time]) =>
    time === undefined || toMs(time) >= MIN_DEADLINE_MS
      ? []
      : [
          problem(
            path,
            `People have ${time} to answer; then the change is rolled back`,
            'Write a longer time, such as 4h.',
          ),
        ],
  );
  if (toMs(commitWindow) >= MIN_COMMIT_WINDOW_MS) return found;
  const message = `A change that takes longer than ${commitWindow} after the last answer until its commit begins is rolled back`;
  return [...found, problem(['commitWindow'], message, 'Write a longer time, such as 15m.')];
}

function silentPolicies({ policies }: Bundle): Problem[] {
  return policies.flatMap(({ requiresConfirmation, callback }, i) =>
    requiresConfirmation || callback !== null
      ? []
      : [
          problem(
            ['policies', i, 'requiresConfirmation'],
            'This policy asks no person and has no callback: each change with a finding that it matches is rolled back',
            'Name a callback, remove "requiresConfirmation: false", or set the rules to level "forbid".',
          ),
        ],
  );
}
