/** Settings for validators that have no useful defaults, beside those of their examples. */
export const SETTINGS: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> = {
  conflict_point: [
    {
      tables: ['payments', 'audit.*', 'public.orders'],
      paths: ['.github/**', 'src/*'],
      pointers: ['/role', '/rows/0'],
    },
  ],
  strong_decision: [
    {
      threshold: 'normal',
      decisions: [
        { id: 'adr-1', strength: 'strong', governs: { tables: ['orders', 'users'] } },
        { id: 'adr-2', strength: 'normal', governs: { paths: ['**/*.tf', 'package.json'], pointers: ['/price'] } },
      ],
    },
  ],
  contract: [{ tables: ['public.orders'], commands: ['UPDATE'], maxRows: 10, maxStatements: 1 }],
  evidence_integrity: [{ required: { rationale: 'string', affected_rows: 'number' } }],
  condition: [
    { name: 'large-diff', when: 'diff.bytes > 200', reason: 'It is large.' },
    { name: 'claims-rows', when: 'metadata.affected_rows > 5', reason: 'It claims many rows.' },
    { name: 'unread', when: 'facts.ok == false', reason: 'It could not be read.' },
  ],
  staged_condition: [{ name: 'rows', when: 'staging.rows > 5', reason: 'It touches many rows.' }],
  rule_validator: [
    {
      name: 'team',
      rules: [
        { pattern: { name: 'words', forbidden: ['(?i)drop\\s+table', 'password', '\\d{4}'] } },
        { diffSize: { name: 'size', maxRows: 5 } },
        { tableWhitelist: { name: 'tables', allowed: ['orders', 'public.orders'] } },
      ],
    },
  ],
  composite: [
    {
      name: 'both',
      mode: 'waterfall',
      children: [
        { name: 'first', rules: [{ tableWhitelist: { name: 'tables', allowed: ['orders'] } }] },
        { name: 'second', rules: [{ pattern: { name: 'words', forbidden: ['DELETE'] } }] },
      ],
    },
  ],
  always_approve: [{ reason: 'Nothing is validated here.' }],
};
