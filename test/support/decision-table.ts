/** The decision table, written independently of `decide`: the required result of each of its 256 combinations. */
const STATUSES = ['ALLOW', 'WARN', 'BLOCK', 'ERROR'] as const;
const CLASSES = ['POLICY', 'SAFETY'] as const;
const CALLBACKS = ['none', 'passed', 'failed', 'threw'] as const;
const HUMANS = ['confirm', 'reject', 'timeout', 'noHandler'] as const;

export interface Combination {
  readonly status: (typeof STATUSES)[number];
  readonly class: (typeof CLASSES)[number];
  readonly requiresConfirmation: boolean;
  readonly callback: (typeof CALLBACKS)[number];
  readonly human: (typeof HUMANS)[number];
}
export interface Expected {
  readonly asked: boolean;
  readonly outcome: 'COMMIT' | 'ROLLBACK';
  readonly reason: string;
}

export const COMBINATIONS: readonly Combination[] = STATUSES.flatMap((status) =>
  CLASSES.flatMap((hookClass) =>
    [true, false].flatMap((requiresConfirmation) =>
      CALLBACKS.flatMap((callback) =>
        HUMANS.map((human) => ({ status, class: hookClass, requiresConfirmation, callback, human })),
      ),
    ),
  ),
);

const BY_HUMAN: Readonly<Record<Combination['human'], Expected>> = {
  confirm: { asked: true, outcome: 'COMMIT', reason: '' },
  reject: { asked: true, outcome: 'ROLLBACK', reason: 'declined' },
  timeout: { asked: true, outcome: 'ROLLBACK', reason: 'expired' },
  noHandler: { asked: false, outcome: 'ROLLBACK', reason: 'no_handler' },
};

/** The result required of the workflow and of `decide`. `asked`: the review waited for a person. */
export function expected(c: Combination): Expected {
  const commit = { asked: false, outcome: 'COMMIT', reason: '' } as const;
  const hard = { asked: false, outcome: 'ROLLBACK', reason: 'forbidden' } as const;
  if (c.status === 'ALLOW') return commit;
  if (c.class === 'SAFETY') return c.status === 'WARN' ? commit : hard;
  if (c.requiresConfirmation) return BY_HUMAN[c.human];
  if (c.callback !== 'passed') return hard;
  return c.status === 'ERROR' ? BY_HUMAN[c.human] : commit;
}

export const nameOf = (c: Combination): string =>
  `${c.status} ${c.class} requiresConfirmation=${c.requiresConfirmation} callback=${c.callback} human=${c.human}`;

/** The part of a combination that the policy decides; a SAFETY validator has no policy. */
export const policyOf = (c: Combination): string =>
  c.class === 'SAFETY' ? 'SAFETY' : `${c.requiresConfirmation} ${c.callback}`;

/**
 * The combinations that run on real servers: one for each distinct status, class and result. Among those with the same
 * status, class and result it is the first whose confirmation setting and callback are not in the sample yet.
 */
export const SAMPLE: readonly Combination[] = chooseSample();

function chooseSample(): Combination[] {
  const resultOf = (c: Combination): string => JSON.stringify([c.status, c.class, expected(c)]);
  const seen = new Set<string>();
  return [...new Set(COMBINATIONS.map(resultOf))].map((result) => {
    const group = COMBINATIONS.filter((c) => resultOf(c) === result);
    const chosen = group.find((c) => !seen.has(policyOf(c))) ?? group[0]!;
    seen.add(policyOf(chosen));
    return chosen;
  });
}
