import { query } from '../dev/query';

/** Creates the table `items` with this many rows. */
export const seedItems =
  (rows: number) =>
  async (url: string): Promise<void> => {
    await query(
      url,
      `create table items (id int primary key, stock int not null);
       insert into items select i, 0 from generate_series(1, ${rows}) i;
       analyze items`,
    );
  };

/** A change of one row of `items`. */
export function itemChange(id: number, assignment: string) {
  return {
    target: 'shop',
    sourceTool: 'SQLDryRun',
    raw: `update items set ${assignment} where id = ${id}`,
    metadata: { table_name: 'items', affected_rows: 1 },
  };
}

/** The parts in which the policies of benchmarks differ. */
export interface PolicyParts {
  readonly judge?: boolean;
  /** How long people have. Default: as the compiler sets it. */
  readonly deadline?: string;
  /** Entries of `validators` in YAML, after those that every benchmark has. */
  readonly more?: readonly string[];
}

/** A limit over many changes that is never reached, so that openings take its locks. */
export const WIDE_LIMIT = '{ aggregate: { name: split, window: 1m, limits: { changes: 500 } } }';

/** The policy of the benchmarks: alice or bob answers two questions of each change of the shop's rows. */
export function shopPolicy({ judge = true, deadline, more = [] }: PolicyParts = {}): string {
  const validators = [...more, ...(judge ? ['{ judge: { model: scripted-judge } }'] : [])];
  return `
version: 1
name: bench
domain: bench
provider: ${judge ? 'scripted' : 'none'}
model: ${judge ? 'scripted-judge' : 'none'}
targets:
  shop: { development: true, sourceTools: [SQLDryRun] }
groups:
  dba: { members: [alice, bob] }
defaultGroup: dba
${deadline === undefined ? '' : `deadline: ${deadline}\n`}validators:
  - pack: sql-postgres
    rules: { sql_affected_rows: { config: { maxRows: 0 } } }
  - validator:
      name: tables
      level: confirm
      policyVersion: '1'
      rules: [{ tableWhitelist: { name: usual, allowed: [none] } }]
${validators.map((each) => `  - ${each}\n`).join('')}`;
}
