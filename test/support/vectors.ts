import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EvidenceTrust } from '../../signing/verify-evidence';
import { evidenceText } from '../../policy/evidence/bundle';
import type { WorldChange } from './review/evidence-review';
import { evidenceWorld } from './review/evidence-world';

export const VECTOR_FOLDER = join(__dirname, '..', '..', 'docs', 'vectors');

/** The change of each published vector. The first three are in one ledger, under one checkpoint; `passkey` has its own ledger. */
export const VECTORS = {
  committed: {
    table: 'public.prices',
    answers: [
      { by: 'alice', decision: 'confirm' },
      { by: 'bob', decision: 'confirm' },
    ],
  },
  declined: {
    table: 'public.prices',
    rows: 2,
    requestKey: 'again',
    judge: 'BLOCK',
    answers: [{ by: 'bob', decision: 'reject' }],
  },
  forbidden: { table: 'public.vault' },
  passkey: {
    table: 'public.prices',
    answers: [
      { by: 'alice', decision: 'confirm', passkey: true },
      { by: 'bob', decision: 'confirm', passkey: true },
    ],
  },
} as const satisfies Record<string, WorldChange>;
export type VectorName = keyof typeof VECTORS;
export const VECTOR_NAMES = Object.keys(VECTORS) as VectorName[];

export interface Vectors {
  readonly texts: Readonly<Record<VectorName, string>>;
  readonly trust: EvidenceTrust;
}

/** The vectors that this version generates from seeds. */
export async function makeVectors(): Promise<Vectors> {
  const shared = evidenceWorld();
  const texts: Partial<Record<VectorName, string>> = {};
  for (const [world, names] of [
    [shared, VECTOR_NAMES.filter((name) => name !== 'passkey')],
    [evidenceWorld(), ['passkey']],
  ] as const) {
    const ids = new Map<VectorName, string>();
    for (const name of names) ids.set(name, (await world.review(VECTORS[name])).changeId);
    for (const name of names) texts[name] = evidenceText(await world.export(ids.get(name) ?? ''));
  }
  return { texts: texts as Record<VectorName, string>, trust: shared.trust };
}

/** The vectors as they were published. */
export function publishedVectors(): Vectors {
  const read = (name: string): string => readFileSync(join(VECTOR_FOLDER, `${name}.json`), 'utf8');
  const texts = Object.fromEntries(VECTOR_NAMES.map((name) => [name, read(name)])) as Record<VectorName, string>;
  return { texts, trust: JSON.parse(read('trust')) as EvidenceTrust };
}
