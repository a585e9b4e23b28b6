import { z } from 'zod';
import { defineSourceTool } from '../../source-tools/define';
import { defineCallback } from '../../policy/rules/callback';
import { defineRule } from '../../policy/rules/define';
import { stagingEvidence } from '../../policy/contracts/facts';
import type { Extension } from '../../workers/extensions';

/** A small shop and a policy for it, for system tests. */
export const SHOP_SQL = `
create table items (id int primary key, name text not null, stock int not null check (stock >= 0), version int not null default 1);
insert into items select i, 'item ' || i, 10, 1 from generate_series(1, 50) i;
create table accounts (id int primary key, owner text not null, balance int not null);
insert into accounts select i, 'owner ' || i, 100 from generate_series(1, 30) i;
create table prices (id int primary key, cents int not null, version int not null default 1);
insert into prices select i, 500, 1 from generate_series(1, 30) i;
create table drafts (id int primary key, body text not null);
insert into drafts select i, 'draft ' || i from generate_series(1, 30) i;
create table vault (id int primary key, body text not null);
insert into vault select i, 'secret ' || i from generate_series(1, 5) i;
create table gifts (id int primary key, cents int not null);
insert into gifts select i, 100 from generate_series(1, 30) i;
`;

/**
 * The table that a change claims decides: items and accounts pass; prices need the group; drafts need it within a second;
 * vault needs a group whose members have no key; gifts are resolved by a callback. More than 20 rows need the group.
 */
export function shopBundle(
  more: {
    readonly validators?: string;
    readonly target?: string;
    readonly settings?: string;
    readonly policies?: string;
    readonly groups?: string;
  } = {},
): string {
  return `
version: 1
name: system tests
domain: tests
provider: none
model: none
targets:
  shop:
    development: true
    sourceTools: [SQLDryRun, SQLCAS, Refund]
    cooperative: [Refund]
${more.target ?? ''}
groups:
  dba: { members: [alice, bob] }
  keyless: { members: [carol] }
${more.groups ?? ''}
defaultGroup: dba
validators:
  - pack: sql-postgres
    sourceTools: [SQLDryRun]
    rules:
      sql_dynamic_sql: { level: forbid, config: { constantToo: true } }
      sql_affected_rows: { config: { maxRows: 20 } }
  - validator: { name: shop_tables, level: confirm, policyVersion: '1', rules: [{ tableWhitelist: { name: usual_tables, allowed: [items, accounts, drafts, vault, gifts, refunds] } }] }
  - validator: { name: drafts, level: confirm, policyVersion: '1', rules: [{ tableWhitelist: { name: drafts, allowed: [items, accounts, prices, vault, gifts, refunds] } }] }
  - validator: { name: vault, level: confirm, policyVersion: '1', rules: [{ tableWhitelist: { name: vault, allowed: [items, accounts, prices, drafts, gifts, refunds] } }] }
  - validator: { name: gifts, level: confirm, policyVersion: '1', rules: [{ tableWhitelist: { name: gifts, allowed: [items, accounts, prices, drafts, vault, refunds] } }] }
${more.validators ?? ''}
${more.settings ?? ''}
policies:
  - { key: soon, name: Drafts are decided at once, match: { validatorIds: [guardian.drafts] }, deadline: 1s }
  - { key: vault, name: The vault, match: { validatorIds: [guardian.vault] }, group: keyless }
${more.policies ?? ''}
`;
}

/** For `validators`: the judge. Only where it hangs is the deadline so short that a busy machine might miss it. */
export const judgeEntry = (deadlineMs = 30_000): string =>
  `  - judge: { model: test-judge, deadlineMs: ${deadlineMs} }`;

/** For `policies`: a callback accepts small gifts and refuses large ones; no person is asked. */
export const GIFT_POLICY = `  - { key: gift, name: Small gifts, match: { validatorIds: [guardian.gifts] }, requiresConfirmation: false, callback: { key: small_gift, version: '1' } }`;

const PARSER = { name: 'text', version: '1' } as const;

/** A cooperative tool, a callback, and a post validator that a bundle may name as `shop_stock_left`. */
export const shopExtension: Extension = {
  sourceTools: [
    defineSourceTool({
      sourceTool: 'Refund',
      mode: 'cooperative',
      parser: PARSER,
      facts: () => ({ ok: true, kind: 'text', parser: PARSER }),
      staging: null,
    }),
  ],
  callbacks: [
    defineCallback({
      key: 'small_gift',
      version: '1',
      evaluate: ({ metadata }) => ({
        passed: Number(metadata['cents']) <= 200,
        message: `a gift of ${String(metadata['cents'])} cents`,
      }),
    }),
  ],
  validators: [
    defineRule({
      name: 'shop_stock_left',
      pack: 'shop-rules',
      logicRevision: 1,
      config: z.strictObject({ maxRows: z.int().min(0) }),
      sourceTools: ['SQLDryRun'],
      phase: 'post',
      reads: ['staging'],
      defaultLevel: 'confirm',
      why: 'Stock is counted by hand afterwards.',
      docs: 'docs/rules.md',
      apply: ({ staging, config }) => {
        const rows = staging?.record.tables.reduce((sum, t) => sum + t.updated, 0) ?? 0;
        return rows > config.maxRows
          ? {
              fires: true,
              status: 'WARN',
              reason: `${rows} rows of stock changed`,
              evidence: [stagingEvidence(staging?.sha ?? '', '/tables')],
            }
          : { fires: false };
      },
    }) as never,
  ],
};

/** The system of most tests; `startSystem({ ...SHOP, name })`. */
export const SHOP = { bundleText: shopBundle(), extension: shopExtension, shopSql: SHOP_SQL } as const;
