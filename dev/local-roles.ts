import { stopUsing, type Targets } from '../activities/committer/targets';
import type { CommitActivities, JudgeActivities, ReviewActivities } from '../activities/review-types';
import type { Role as DatabaseRole } from '../storage/database/roles';
import type { WorkerRole } from '../policy/contracts/queues';
import type { BreakerParameters } from '../policy/decide/breaker';
import { createBreakers } from '../storage/breakers/breakers';
import type { KeyRing } from '../storage/store/preview-cipher';
import { readKeyFile } from '../signing/key-file';
import { readTargets, readTrustFile } from '../workers/config';
import { extensionsOf, type Extensions } from '../workers/extensions';
import { createLogger } from '../workers/logger';
import { openResources, type Resources } from '../workers/resources';
import { targetSlots } from '../activities/committer/target-slots';
import { commitActivities } from '../workers/roles/commit';
import { judgeActivities } from '../workers/roles/judge';
import { reviewActivities } from '../workers/roles/review';
import { attestorWith, receiptSignerWith } from '../workers/signers';
import type { DemoKeyName } from './demo-keys';
import type { DevSetup } from './setup';

/** What a process needs to play a role: paths and connection strings only, so that it can be passed to a child process. */
export interface RoleSetup {
  readonly databaseUrls: Readonly<Record<DatabaseRole, string>>;
  readonly keyFiles: Readonly<Record<DemoKeyName, string>>;
  readonly trustFile: string;
  readonly targetsFile: string;
}

export function roleSetup({ databaseUrls, keys, trustFile, targetsFile }: DevSetup): RoleSetup {
  const paths = Object.entries(keys).map(([name, { path }]) => [name, path]);
  return { databaseUrls, keyFiles: Object.fromEntries(paths) as RoleSetup['keyFiles'], trustFile, targetsFile };
}

interface LocalRoleOptions {
  readonly applicationName: string;
  readonly extensions?: Extensions;
  readonly poolSize?: number;
  /** Default: an address without a server, so the judge fails. */
  readonly judgeUrl?: string | undefined;
  /** Default: off. */
  readonly breakers?: { readonly parameters: BreakerParameters };
  /** Encrypts previews. Default: they are stored as they are. */
  readonly payloadKeys?: KeyRing | undefined;
  /** Default: those of the targets file. */
  readonly targets?: Targets;
}

interface LocalRoles {
  readonly extensions: Extensions;
  readonly targets: Targets;
  readonly resources: Readonly<Record<WorkerRole, Resources>>;
  readonly activities: {
    readonly review: ReviewActivities;
    readonly judge: JudgeActivities;
    readonly commit: CommitActivities;
  };
  close(): Promise<void>;
}

/** The activities of the three workers in this process, with their real stores: for tests, crash tests and measurements. */
export function openRoles(setup: RoleSetup, options: LocalRoleOptions): LocalRoles {
  const { applicationName, extensions = extensionsOf(), breakers } = options;
  const logger = createLogger(applicationName, 'fatal');
  const { operators: trustedOperators } = readTrustFile(setup.trustFile);
  const poolSize = options.poolSize === undefined ? {} : { poolSize: options.poolSize };
  const open = (role: DatabaseRole): Resources =>
    openResources({
      databaseUrl: setup.databaseUrls[role],
      applicationName,
      trustedOperators,
      extensions,
      logger,
      ...poolSize,
    });
  const resources = { review: open('cs_review'), judge: open('cs_judge'), commit: open('cs_commit') };
  const { keyFiles } = setup;
  const judgeKey = readKeyFile(keyFiles['attestor-judge']);
  const targets = options.targets ?? readTargets(setup.targetsFile);
  return {
    extensions,
    targets,
    resources,
    activities: {
      review: reviewActivities({
        resources: resources.review,
        extensions,
        attestor: attestorWith(readKeyFile(keyFiles['attestor-review'])),
        breakers:
          breakers === undefined
            ? null
            : createBreakers({ db: resources.review.db, operators: resources.review.operators, ...breakers }),
        threads: null,
      }),
      judge: judgeActivities({
        resources: resources.judge,
        extensions,
        attestor: attestorWith(judgeKey),
        key: judgeKey,
        transport: { baseUrl: options.judgeUrl ?? 'http://127.0.0.1:9/v1', apiKey: 'test' },
        prices: {},
      }),
      commit: commitActivities({
        resources: resources.commit,
        extensions,
        receipts: receiptSignerWith(readKeyFile(keyFiles.committer)),
        targets,
        slots: targetSlots(100),
        payloadKeys: options.payloadKeys ?? null,
        threads: null,
      }),
    },
    close: async () => {
      stopUsing(targets);
      await Promise.all(Object.values(resources).map(({ db }) => db.close()));
    },
  };
}
