/** The parts in which the policies of benchmarks differ. */
interface Parts {
  readonly judge?: boolean;
  /** How long people have. Default: as the compiler sets it. */
  readonly deadline?: string;
  /** Entries of `validators` in YAML, after those that every benchmark has. */
  readonly more?: readonly string[];
}

/** A limit over many changes that is never reached, so that openings take its locks. */
export const WIDE_LIMIT = '{ aggregate: { name: split, window: 1m, limits: { changes: 500 } } }';

/** The policy of the benchmarks: alice or bob answers two questions of each change of the shop's rows. */
export function shopPolicy({ judge = true, deadline, more = [] }: Parts = {}): string {
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
