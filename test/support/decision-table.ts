/** The table of the checklist, written down once more: what each of its 256 combinations must come to. */
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

/** What the workflow, and `decide`, must make of it. `asked`: a person was waited for. */
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
