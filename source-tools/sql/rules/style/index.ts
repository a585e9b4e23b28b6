import type { SqlRule } from '../define-sql-rule';
import { insertOrderByRandom, leadingWildcard, selectStar, selectWithoutWhere } from './queries';
import { robustStatements } from './robust';
import {
  domainConstraint,
  dropNotNull,
  enumValueOrder,
  requireComment,
  requirePrimaryKey,
  requireSchema,
} from './schema';
import { noChar, preferBigint, preferBigintOverSmallint, preferIdentity, preferText, preferTimestamptz } from './types';

/** Advice on style and types. A separate pack, so it is off until a policy bundle enables it. */
export const sqlPostgresStyleRules: readonly SqlRule[] = [
  preferBigint,
  preferBigintOverSmallint,
  preferIdentity,
  preferText,
  noChar,
  preferTimestamptz,
  requirePrimaryKey,
  requireSchema,
  requireComment,
  dropNotNull,
  enumValueOrder,
  domainConstraint,
  robustStatements,
  selectWithoutWhere,
  selectStar,
  leadingWildcard,
  insertOrderByRandom,
];
