import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { CORPORA } from '../source-tools/sql/rules/support/corpus';
import { ROOT } from '../support/root';
import { bytebase } from './corpora/bytebase';
import { gitPatches } from './corpora/git-patches';
import { jsonPatch } from './corpora/json-patch';
import { pgRegress } from './corpora/pg-regress';
import { gitleaks, secretlint } from './corpora/secrets';
import { sentinel } from './corpora/sentinel';
import { squawk } from './corpora/squawk';
import { figuresOf, type Figures, type Judged, type Measure } from './judged';
import { labelled } from './labelled';

export const CASES = join(ROOT, 'test/quality/cases');
export const KEPT = join(ROOT, 'docs/assurance/quality-kept.json');

export const PUBLIC_MEASURES: readonly Measure[] = [
  squawk,
  bytebase,
  pgRegress,
  gitleaks,
  secretlint,
  gitPatches,
  jsonPatch,
  sentinel,
];
export const OWN_MEASURES = labelled;

/** Corpus → case → why we keep a verdict that differs from the label. */
export type Kept = Readonly<Record<string, Readonly<Record<string, string>>>>;

export function readKept(): Kept {
  return z.record(z.string(), z.record(z.string(), z.string().min(20))).parse(JSON.parse(readFileSync(KEPT, 'utf8')));
}

/** Removes the reasons that are no longer needed. */
export function dropStaleReasons(kept: Kept, measured: readonly Measured[]): Kept {
  const stale = new Map(measured.map((one) => [one.name, one.stale]));
  const left = Object.entries(kept).flatMap(([name, reasons]) => {
    const needed = Object.entries(reasons).filter(([id]) => stale.get(name)?.includes(id) !== true);
    return needed.length === 0 ? [] : [[name, Object.fromEntries(needed)] as const];
  });
  const text = Object.fromEntries(left);
  writeFileSync(KEPT, `${JSON.stringify(text, null, 2)}\n`);
  return text;
}

export interface Measured extends Figures {
  readonly name: string;
  /** Disagreements without a written reason. */
  readonly unexplained: readonly Judged[];
  /** Written reasons of cases that agree or do not exist. */
  readonly stale: readonly string[];
}

/** The figures of one corpus or labelled set; null if it is absent. */
export async function measure(one: Measure, kept: Kept, corpora = CORPORA): Promise<Measured | null> {
  const judgement = await one.judge(one.own ? CASES : corpora);
  if (judgement === null) return null;
  const figures = figuresOf(judgement);
  const reasons = kept[one.name] ?? {};
  const disagreeing = new Set(figures.disagreements.map(({ id }) => id));
  return {
    name: one.name,
    ...figures,
    unexplained: figures.disagreements.filter(({ id }) => !Object.hasOwn(reasons, id)),
    stale: Object.keys(reasons).filter((id) => !disagreeing.has(id)),
  };
}
