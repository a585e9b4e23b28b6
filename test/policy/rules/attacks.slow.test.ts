import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Evaluation } from '../../../policy/bundle/evaluate';
import type { Metadata } from '../../../policy/contracts/diff';
import { sha256Hex } from '../../../policy/contracts/hash';
import { checkExpression } from '../../../policy/rules/condition/check-expression';
import { ours, starterEvaluator } from '../../support/compiled-plan';
import { ROOT } from '../../support/root';

/** One hostile diff and the outcome that the starter bundle of its source tool must give. */
interface Attack {
  readonly id: string;
  readonly raw?: string;
  readonly rawBase64?: string;
  /** head + unit × times + middle + tail × times + end. */
  readonly generate?: {
    readonly head: string;
    readonly unit: string;
    readonly times: number;
    readonly middle?: string;
    readonly tail?: string;
    readonly end?: string;
  };
  readonly metadata?: Metadata;
  readonly outcome: Evaluation['outcome'];
  /** Rules that must fire, and not as an ERROR. Others may fire too. */
  readonly rules: readonly string[];
  /** Refusal code of the extractor; absent if the diff has facts. */
  readonly refused?: string;
}

const FOLDER = join(ROOT, 'test/corpus/attacks');
const read = <T>(file: string): T => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as T;

function bytesOf({ raw, rawBase64, generate }: Pick<Attack, 'raw' | 'rawBase64' | 'generate'>): Uint8Array {
  if (rawBase64 !== undefined) return new Uint8Array(Buffer.from(rawBase64, 'base64'));
  if (generate === undefined) return new TextEncoder().encode(raw ?? '');
  const { head, unit, times, middle = '', tail = '', end = '' } = generate;
  return new TextEncoder().encode(head + unit.repeat(times) + middle + tail.repeat(times) + end);
}

const tools = readdirSync(FOLDER).filter((file) => file !== 'conditions.json');

describe.each(tools.map((file) => [file.replace('.json', ''), file]))('%s', (sourceTool, file) => {
  const evaluate = starterEvaluator(sourceTool);
  const tool = ours.sourceTools.get(sourceTool);

  it.each(read<Attack[]>(file).map((attack) => [attack.id, attack] as const))('%s', async (_, attack) => {
    const raw = bytesOf(attack);
    const metadata = attack.metadata ?? {};
    const facts = await tool?.facts({ sourceTool, raw, diffSha: sha256Hex(raw), metadata });
    if (facts === undefined) throw new Error(`source tool ${sourceTool} does not exist`);
    const { outcome, findings } = evaluate({ raw, facts, metadata, staging: null, at: '2026-01-01T00:00:00.000Z' });
    const fired = findings
      .filter((finding) => finding.status !== 'ALLOW' && finding.errorClass === undefined)
      .map((finding) => finding.validator_id.replace(/^(?:safety|guardian)\./, ''));
    expect(outcome).toBe(attack.outcome);
    expect(fired).toEqual(expect.arrayContaining([...attack.rules]));
    expect(facts.ok ? null : facts.code).toBe(attack.refused ?? null);
  });
});

interface HostileCondition extends Pick<Attack, 'id' | 'raw' | 'generate'> {
  /** Substring of the expected compile error. */
  readonly problem: string;
}

describe('a condition is rejected when the bundle is compiled', () => {
  it.each(read<HostileCondition[]>('conditions.json').map((c) => [c.id, c] as const))('%s', (_, condition) => {
    const text = new TextDecoder().decode(bytesOf(condition));
    const checked = checkExpression(text);
    expect(checked).toMatchObject({ ok: false, problem: expect.stringContaining(condition.problem) });
  });
});
