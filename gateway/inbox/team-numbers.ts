import { Hono } from 'hono';
import { z } from 'zod';
import { parseInput } from '../../client/parse';
import type { AnswerNumbers, AskedNumbers, InboxNumbers } from '../../storage/inbox/numbers';
import { NOTHING_DONE } from '../callers';
import { FreshReading } from '../fresh-reading';
import type { RuleNumbers, TeamNumbers } from './api';
import { tenantsOf, type Sessions } from './session';

const MAX_DAYS = 90;
const FRESH_MS = 60_000;
const MAX_CACHED = 100;
/** A rule that people confirmed this often, and never rejected, asks too much. */
const ALWAYS = 10;

const Query = z.strictObject({
  days: z
    .string()
    .regex(/^[0-9]{1,3}$/, 'expected a whole number')
    .transform(Number)
    .pipe(z.int().min(1).max(MAX_DAYS))
    .default(30),
});

/** `GET /numbers`: figures of the tenants of the session, at most a minute old. By rule and by group, never by person. */
export function numberRoutes(numbers: InboxNumbers, sessions: Sessions, now: () => number): Hono {
  const cached = new Map<string, FreshReading<TeamNumbers>>();
  const routes = new Hono();
  routes.get('/numbers', async (c) => {
    const session = await sessions.of(c);
    const { days } = parseInput(Query, c.req.query(), NOTHING_DONE);
    const tenants = tenantsOf(session);
    const key = JSON.stringify([days, tenants === null ? null : [...tenants].sort()]);
    const reading = cached.get(key) ?? new FreshReading(() => readNumbers(numbers, tenants, days), FRESH_MS, now);
    if (cached.size >= MAX_CACHED) cached.clear();
    cached.set(key, reading);
    return c.json(await reading.get());
  });
  return routes;
}

async function readNumbers(
  numbers: InboxNumbers,
  tenants: readonly string[] | null,
  days: number,
): Promise<TeamNumbers> {
  const [reviews, all, byRule, byGroup, asked] = await Promise.all([
    numbers.reviews(tenants, days),
    numbers.answers('all', tenants, days),
    numbers.answers('rule', tenants, days),
    numbers.answers('group', tenants, days),
    numbers.asked(tenants, days),
  ]);
  const answersTo = new Map(byRule.map((row) => [row.name, row]));
  return {
    days,
    ...reviews,
    medianSecondsToAnswer: all[0]?.medianSeconds ?? null,
    confirmedWithin5s: all[0]?.confirmedFast ?? null,
    byRule: asked.map((row) => ruleNumbers(row, answersTo.get(row.rule))),
    byGroup: byGroup.map((row) => ({
      group: row.name ?? '',
      answers: row.answers,
      medianSecondsToAnswer: row.medianSeconds,
      confirmedWithin5s: row.confirmedFast,
    })),
  };
}

function ruleNumbers({ rule, asked, expired }: AskedNumbers, answers: AnswerNumbers | undefined): RuleNumbers {
  const { confirmed = 0, rejected = 0, medianSeconds = null } = answers ?? {};
  const always = confirmed >= ALWAYS && rejected === 0 && expired === 0;
  return {
    rule,
    asked,
    confirmed,
    rejected,
    expired,
    medianSecondsToAnswer: medianSeconds,
    // A policy is a signed file, so the page names the command and changes nothing.
    tuneCommand: always ? `countersign policy publish POLICY.yaml  # after "level: advise" for ${rule}` : null,
  };
}
