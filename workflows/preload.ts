/**
 * Modules that a worker evaluates once for all of its workflows (`preloadModules`). The SDK deep-freezes everything they export.
 * zod binds methods to a schema on first use and fills caches inside the schema on the first parse; on a deep-frozen schema both
 * throw. The SDK does not descend into an object that is already frozen, so each exported schema gets its `safeParse` here and
 * is then frozen shallowly. Its caches stay writable; they depend only on the schema.
 */
import * as diff from '../policy/contracts/diff';
import * as finding from '../policy/contracts/finding';
import * as jsonValue from '../policy/contracts/json-value';
import * as outcome from '../policy/contracts/outcome';
import * as status from '../policy/contracts/status';
import * as violation from '../policy/contracts/violation';
import './index';

for (const module of [diff, finding, jsonValue, outcome, status, violation]) {
  for (const exported of Object.values<unknown>(module)) {
    if (typeof exported !== 'object' || exported === null || !('_zod' in exported && 'safeParse' in exported)) continue;
    void exported.safeParse;
    Object.freeze(exported);
  }
}
