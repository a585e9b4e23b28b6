import { createHash } from 'node:crypto';
import { SETTINGS } from './settings';

/** A submission as both checkouts read it, with a dry run and a model's answer beside it. */
export interface ComparedInput {
  readonly id: string;
  readonly sourceTool: string;
  /** In base64. */
  readonly bytes: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly staging: unknown;
  readonly answer: string;
}

export interface ComparedDiff {
  readonly sourceTool: string;
  readonly raw: Uint8Array;
  readonly diffSha: string;
  // Whatever JSON a caller may claim.
  readonly metadata: never;
}

// Old and new sources need not agree on types: what they are given is the same, and what they return is compared.
type Called = (...input: never[]) => unknown;

interface Definition {
  readonly implementation: string;
  readonly sourceTools: '*' | readonly string[];
  readonly phase: string;
  readonly config: {
    readonly safeParse: (value: unknown) => { readonly success: boolean; readonly data?: unknown };
  };
  readonly evaluate: Called | null;
}

export interface SubjectExample {
  readonly implementation: string;
  readonly sourceTools: '*' | readonly string[];
  readonly examples: {
    readonly bad: string | { readonly base64: string };
    readonly good: string | { readonly base64: string };
    readonly config?: Readonly<Record<string, unknown>>;
    readonly sourceTool?: string;
    readonly goodSourceTool?: string;
    readonly metadata?: { readonly bad: object; readonly good: object };
  };
}

export interface Subject {
  readonly definitions: readonly Definition[];
  readonly examples: readonly SubjectExample[];
  /** Null for a tool that is not registered. */
  readonly facts: (diff: ComparedDiff) => Promise<unknown>;
  readonly stagingSha: (record: unknown) => string;
  readonly renderers: Readonly<Record<string, unknown>>;
  readonly policies: readonly { readonly id: string }[];
  readonly judge: Readonly<Record<JudgeFunction, Called>>;
}

type JudgeFunction =
  | 'makeDocument'
  | 'splitDocument'
  | 'injectionMarkers'
  | 'injectionPlaces'
  | 'createRedactor'
  | 'instructions'
  | 'userMessage'
  | 'nonceOf'
  | 'promptSha'
  | 'schemaSha'
  | 'wireJsonSchema'
  | 'readAnswer'
  | 'conclude'
  | 'judge'
  | 'notCovered';

/** What everything pinned says to one input, by the name of its pin. */
export type Results = Readonly<Record<string, unknown>>;

const FACTS_PINS: Readonly<Record<string, string>> = {
  SQLDryRun: 'facts/sql',
  SQLCAS: 'facts/sql-cas',
  GitPatch: 'facts/git-patch',
  HTTPPatch: 'facts/http-patch',
  TerraformPlan: 'facts/terraform-plan',
};
const NO_FACTS = { ok: true, kind: 'none', parser: { name: 'none', version: '1' } };
const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

export class InputEvaluator {
  readonly #subject: Subject;
  readonly #settings: ReadonlyMap<string, readonly unknown[]>;
  /** What the judge is sent with every diff. */
  readonly #constantWords: unknown;

  constructor(subject: Subject) {
    this.#subject = subject;
    const { judge, policies } = subject;
    const ids = policies.map(({ id }) => id) as never;
    this.#constantWords = [
      judge.instructions(policies as never),
      judge.promptSha(policies as never),
      judge.schemaSha(ids),
      judge.wireJsonSchema(ids),
    ];
    const examples = new Map(
      subject.examples.map(({ implementation, examples: { config } }) => [implementation, config]),
    );
    this.#settings = new Map(
      subject.definitions.map(({ implementation, config }) => [
        implementation,
        [{}, examples.get(implementation) ?? {}, ...(SETTINGS[implementation] ?? [])].flatMap((settings) => {
          const read = config.safeParse(settings);
          return read.success ? [read.data] : [];
        }),
      ]),
    );
  }

  /** Validators that no settings fit, so that nothing is compared. */
  unset(): readonly string[] {
    return this.#subject.definitions
      .filter(({ implementation, evaluate }) => evaluate !== null && this.#settings.get(implementation)?.length === 0)
      .map(({ implementation }) => implementation);
  }

  async evaluate(input: ComparedInput): Promise<Results> {
    const raw = new Uint8Array(Buffer.from(input.bytes, 'base64'));
    const diff: ComparedDiff = {
      sourceTool: input.sourceTool,
      raw,
      diffSha: sha256(raw),
      metadata: input.metadata as never,
    };
    const facts = await caught(() => this.#subject.facts(diff));
    return {
      [FACTS_PINS[input.sourceTool] ?? 'facts']: facts,
      ...(await this.#rules(input, diff, facts)),
      ...(await judgeResults(this.#subject, this.#constantWords, input, diff)),
    };
  }

  async #rules({ staging, id }: ComparedInput, diff: ComparedDiff, facts: unknown): Promise<Results> {
    const results: Record<string, unknown> = {};
    for (const { implementation, sourceTools, phase, evaluate } of this.#subject.definitions) {
      if (evaluate === null || (sourceTools !== '*' && !sourceTools.includes(diff.sourceTool))) continue;
      const answers: unknown[] = [];
      for (const config of this.#settings.get(implementation) ?? []) {
        const given = {
          signature: {
            validator_id: `guardian.${implementation}`,
            validator_version: 'v1',
            logic_hash: '0'.repeat(64),
            class: 'POLICY',
            deterministic: true,
          },
          phase,
          config,
          diff,
          inputSha: sha256(id),
          facts: facts ?? NO_FACTS,
          staging: staging === null ? null : { record: staging, sha: this.#subject.stagingSha(staging) },
        };
        answers.push(await caught(() => evaluate(given as never)));
      }
      results[implementation] = answers;
    }
    return results;
  }
}

/** The result, or what was thrown, which is compared as well. */
async function caught(run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    return { threw: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
  }
}

interface Document {
  readonly lines: readonly { readonly text: string }[];
  readonly borders: () => unknown;
  readonly metadata: readonly string[];
  readonly prose: readonly string[];
}

interface Made {
  readonly ok: boolean;
  readonly document: Document;
}

interface Split {
  readonly ok: boolean;
  readonly pieces: readonly unknown[];
}

interface Read {
  readonly ok: boolean;
  readonly answer: unknown;
}

const LOGIC = '0'.repeat(64);

/** What the judge does before and after the model is asked. */
async function judgeResults(
  { judge: parts, renderers, policies }: Subject,
  constantWords: unknown,
  input: ComparedInput,
  diff: ComparedDiff,
): Promise<Results> {
  const call = (name: JudgeFunction, ...given: unknown[]): unknown =>
    (parts[name] as (...all: unknown[]) => unknown)(...given);
  const text = Buffer.from(diff.raw).toString('utf8');
  const policyIds = policies.map(({ id }) => id);
  const redactor = call('createRedactor') as { redact: (of: string) => string; counts: () => unknown };
  const read = call('readAnswer', input.answer, { policyIds, canary: null, piece: null }) as Read;
  const results: Record<string, unknown> = {
    'judge/redactor': await caught(() => [redactor.redact(text), redactor.counts()]),
    'judge/markers': await caught(() => [call('injectionMarkers', text), call('injectionPlaces', text)]),
    'judge/answer': [
      read,
      call('readAnswer', input.answer, { policyIds: null, canary: 'c0ffee', piece: null }),
      read.ok ? call('conclude', read.answer) : null,
    ],
  };
  const renderer = renderers[input.sourceTool];
  if (renderer === undefined) return results;
  const { metadata } = diff;
  const keys = { metadataKeys: ['affected_rows', 'table_name'], proseKeys: ['rationale'] };
  const made = call('makeDocument', { raw: diff.raw, metadata, renderer, maxBytes: 786_432, ...keys }) as Made;
  results['judge/renderer'] = made.ok ? [made, made.document.borders()] : made;
  if (!made.ok) return results;
  const { document } = made;
  const nonce = call('nonceOf', new Uint8Array(32), diff.diffSha, LOGIC);
  const splits = [call('splitDocument', document, 98_304, 8), call('splitDocument', document, 2_048, 16)] as Split[];
  const pieces = splits.map(({ ok, pieces: all }) => (ok ? all : []));
  const markers = call('injectionMarkers', document.lines.map((line) => line.text).join('\n'));
  const asked = { document, nonce, sourceTool: input.sourceTool, diffSha: diff.diffSha, policyIds };
  results['judge/prompt'] = [
    constantWords,
    pieces.map((all) => all.map((piece, index) => call('userMessage', { ...asked, piece, index, pieces: all.length }))),
  ];
  results['judge/judgement'] = [
    splits,
    call('notCovered', 'guardian.llm_judge', diff.diffSha, diff.raw.length, 'it is too large'),
    ...pieces.map((all) =>
      read.ok && all.length > 0
        ? call('judge', {
            validatorId: 'guardian.llm_judge',
            validatorVersion: 'v1',
            model: 'model',
            diffSha: diff.diffSha,
            document,
            pieces: all.map((piece) => ({ piece, answer: read.answer })),
            markers,
            bytes: diff.raw.length,
          })
        : null,
    ),
  ];
  return results;
}
