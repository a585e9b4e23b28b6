import type { Explanation } from '../policy/bundle/explain';
import type { BreakerView } from '../policy/decide/breakers';
import type { StoredRow } from '../policy/evidence/chain';
import type { RegisteredKey } from '../policy/evidence/key-registry';
import type { KeyKind } from '../policy/evidence/predicates';
import type { LedgerReport, ReplayReport } from '../policy/evidence/reports';
import type { ReviewClient } from '../client/review-client';
import type { Countersign } from '../client/countersign';
import type { Signer } from '../client/signer';
import type { Sink } from './printer';

/** Everything the CLI touches. `cli/main.ts` gives the real ones; each heavy part is loaded when it is asked for. */
export interface CliDeps {
  readonly version: string;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly stdin: {
    readonly isTTY?: boolean | undefined;
    /** All of it, at most `max` bytes; throws past that. */
    readonly read: (max: number) => Promise<Uint8Array>;
  };
  readonly env: { readonly NO_COLOR?: string | undefined; readonly TERM?: string | undefined };
  readonly now: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
  /** Throws past `max` bytes. */
  readonly readFile: (path: string, max: number) => Promise<Uint8Array>;
  /** Never overwrites: throws where the file exists. */
  readonly writeFile: (path: string, text: string) => Promise<void>;
  /** Asks on the terminal. Called only where there is one. */
  readonly prompt: (question: string) => Promise<string>;
  readonly connect: (options: ConnectOptions) => Promise<Connected>;
  /** Reads a key file; asks for its passphrase, or takes it from the environment. */
  readonly loadKey: (path: string) => Promise<Signer>;
  readonly keys: () => Promise<KeysAdmin>;
  readonly evidence: () => Promise<EvidenceTools>;
  readonly breakers: () => Promise<BreakerAdmin>;
  readonly operator: () => Promise<OperatorTools>;
  readonly judge: () => Promise<JudgeTools>;
  readonly policy: () => Promise<PolicyTools>;
  /** Throws where the file is there already: a policy is not overwritten. */
  readonly writeNewFile: (path: string, text: string) => Promise<void>;
  readonly runtime: CliRuntime;
}

export interface ConnectOptions {
  readonly tenant?: string | undefined;
  /** A service key's file: submissions are signed with it. */
  readonly serviceKey?: string | undefined;
}

/** Connections to Temporal, store and ledger; closed after every command. */
export interface Connected {
  readonly reviews: Pick<ReviewClient, 'status' | 'evidence' | 'answer' | 'withdraw' | 'result' | 'list'> &
    Pick<Countersign, 'submit'>;
  /** Null where the store cannot be reached from here. */
  readonly bytes: ((tenant: string, digest: string) => Promise<Uint8Array>) | null;
  /** Null where the ledger cannot be reached from here. */
  readonly ledgerRows: ((changeId: string) => Promise<readonly StoredRow[]>) | null;
  /** For the commands that `sign` prints. */
  readonly address: string;
  readonly namespace: string;
  readonly close: () => Promise<void>;
}

export interface NewKey {
  readonly kind: KeyKind;
  readonly subject: { readonly type: 'person' | 'agent' | 'service'; readonly id: string };
  readonly onBehalfOf: string | null;
  readonly out: string;
  /** An operator's key file: registers the key at once. Without it an operator must. */
  readonly operatorKey: string | null;
}

/** The public half of a key that its holder made and keeps. */
export interface ForeignKey extends Pick<NewKey, 'kind' | 'subject' | 'onBehalfOf'> {
  /** 32 bytes as lower-case hex. */
  readonly publicKey: string;
  readonly operatorKey: string;
}

/** Files and registry of keys. */
export interface KeysAdmin {
  readonly create: (key: NewKey) => Promise<{
    readonly keyId: string;
    readonly publicKey: string;
    readonly file: string;
    readonly registered: boolean;
  }>;
  readonly register: (key: ForeignKey) => Promise<{ readonly keyId: string }>;
  readonly list: () => Promise<readonly RegisteredKey[]>;
  readonly revoke: (revocation: {
    readonly keyId: string;
    readonly reason: string;
    readonly operatorKey: string;
  }) => Promise<void>;
}

/** The breakers of one tenant and source tool. */
export interface ListedBreakers {
  readonly tenant: string;
  readonly sourceTool: string;
  readonly breakers: readonly BreakerView[];
  readonly resets: readonly {
    readonly at: number;
    readonly actor: string;
    readonly reason: string;
    readonly validatorId: string | null;
  }[];
}

/** Closed after every command. */
export interface BreakerAdmin {
  readonly list: () => Promise<readonly ListedBreakers[]>;
  /** Answers with the validators whose breaker was there. */
  readonly reset: (message: {
    readonly tenant: string;
    readonly sourceTool: string;
    readonly validatorId: string | null;
    /** Null: whoever is logged in here. */
    readonly actor: string | null;
    readonly reason: string;
  }) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

/** What only an operator's key file may say. Closed after every command. */
export interface OperatorTools {
  /** `told`: the review was asked to look at once; otherwise it looks in ten minutes. */
  readonly resolve: (said: {
    readonly changeId: string;
    readonly applied: boolean;
    readonly reason: string;
    readonly operatorKey: string;
  }) => Promise<{ readonly told: boolean }>;
  /** Answers with the number of this freeze or unfreeze. */
  readonly freeze: (said: {
    readonly target: string;
    readonly frozen: boolean;
    readonly reason: string;
    readonly operatorKey: string;
  }) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** `moved`: this process has other validators than the plan was made with, so nothing can be compared. */
export type Replayed =
  | { readonly kind: 'replayed'; readonly report: ReplayReport }
  | { readonly kind: 'moved'; readonly explanation: string };

/** What reads ledger, store and keys for an auditor. `verify` needs none of it. */
export interface EvidenceTools {
  /** The bundle's text, canonical; throws CountersignError `not_found` for a change that the ledger does not know. */
  readonly export: (changeId: string, options: { readonly bytes: boolean }, say: Say) => Promise<string>;
  /** Of a change of this installation, or of a bundle, whose bytes come from the store where it does not hold them. */
  readonly replay: (of: { readonly changeId: string } | { readonly file: Uint8Array }, say: Say) => Promise<Replayed>;
  /** One change, or null for all; `progress` is called with the rows checked so far. */
  readonly verifyLedger: (changeId: string | null, progress: (rows: number) => void) => Promise<LedgerReport>;
}

/** What brings up a new model: reading of raw answers, and figures on a labelled set. */
export interface JudgeEvalOptions {
  /** Null: the bundle's. */
  readonly model: string | null;
  readonly baseUrl: string | null;
  readonly atOnce: number;
  /** The text of a bundle whose judge is measured; null for the settings that a bundle has unless it says otherwise. */
  readonly bundle: string | null;
  readonly target: string | null;
}

/** One line of a labelled set, with its number in the file. */
export interface LabelledRow {
  readonly text: string;
  readonly number: number;
}

export interface JudgeTools {
  /** One line in, one line out; a line that cannot be read says so and stops nothing. */
  readonly parseJudgeText: (text: string, number: number) => object;
  readonly evaluate: (
    rows: readonly LabelledRow[],
    options: JudgeEvalOptions,
    progress: (done: number, of: number) => void,
  ) => Promise<{ readonly report: object; readonly text: string; readonly answered: number }>;
}

export interface PolicyIssue {
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly message: string;
  readonly fix: string;
}

/** Policy as code, without a server. */
export interface ExplainGiven {
  readonly target: string | null;
  readonly sourceTool: string | null;
  /** JSON objects as text; null for none. */
  readonly metadata: string | null;
  readonly staging: string | null;
  readonly at: string;
}

export interface PolicyTools {
  readonly check: (bundle: string) => Promise<{
    readonly issues: readonly PolicyIssue[];
    readonly plans: readonly {
      readonly target: string;
      readonly sourceTool: string;
      readonly planHash: string;
      readonly validators: number;
    }[];
  }>;
  readonly test: (
    bundle: string,
    tests: string,
  ) => Promise<{
    readonly results: readonly { readonly name: string; readonly problems: readonly string[] }[];
    readonly covered: readonly string[];
    /** Validators that no test makes fire. */
    readonly neverFired: readonly string[];
  }>;
  /** Answers one line at a time; a bad line is an answer too. */
  readonly evaluator: (
    bundle: string,
    target: string | null,
  ) => Promise<(row: string, number: number) => Promise<object>>;
  /** Why one diff gets its findings. `sourceTool` and `target` null: the only one that the bundle has. */
  readonly explain: (bundle: string, raw: Uint8Array, given: ExplainGiven) => Promise<Explanation>;
  readonly schema: () => object;
  readonly starter: (tool: string) => string;
  readonly publish: (
    bundle: string,
    operatorKey: string,
  ) => Promise<{ readonly revision: number; readonly published: boolean }>;
}

/** Lines for people, on standard error. */
export type Say = (text: string) => void;

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do; null where all is well. */
  readonly fix: string | null;
}

/** What starts, sets up and inspects real things; all of it is in workers/. */
export interface CliRuntime {
  /** Server, database, workers and gateway in one process tree; resolves when they have stopped. */
  readonly dev: (
    options: { readonly port?: number | undefined },
    say: Say,
    started: (facts: Readonly<Record<string, string>>) => void,
  ) => Promise<void>;
  /** Registers search attributes and makes the schema; answers with what it did. */
  readonly setup: (say: Say) => Promise<{ readonly added: readonly string[]; readonly present: readonly string[] }>;
  /** Marker table, roles and grants in a target. */
  readonly targetInit: (
    target: string,
    options: { readonly dryRun: boolean },
    say: Say,
  ) => Promise<{ readonly done: readonly string[] }>;
  readonly doctor: () => Promise<readonly Check[]>;
}
