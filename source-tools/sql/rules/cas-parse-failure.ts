import { parseRule, type PackRule } from '../../../policy/rules/rule-maker';
import { CAS_PARSER } from '../facts/sql-cas-facts';

export const casParseFailure: PackRule = parseRule(
  { pack: 'sql-postgres', kind: 'sql-cas', sourceTools: ['SQLCAS'], parser: CAS_PARSER },
  {
    name: 'sql_cas_parse_failure',
    logicRevision: 2,
    defaultLevel: 'forbid',
    why: 'A SQLCAS document that is invalid or has duplicate keys or rows cannot be checked by any other rule.',
    examples: {
      bad: '{"rows": [{"table": "public.prices", "key": {"id": 7}, "expect": {"version": 3}, "set": {"cents": 450}, "set": {"cents": 0}}]}',
      good: '{"rows": [{"table": "public.prices", "key": {"id": 7}, "expect": {"version": 3}, "set": {"cents": 450}}]}',
    },
  },
);
