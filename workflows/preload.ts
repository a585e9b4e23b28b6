/**
 * What a worker evaluates once for all of its workflows (`preloadModules`). The SDK then freezes all that these modules
 * export, deeply. zod binds a method to its schema at the first use, and fills caches inside of the schema at the first parse:
 * frozen, both throw. But the SDK does not descend into an object that is frozen already. So each exported schema is given
 * its `safeParse` and is frozen here, shallowly; its caches, which depend on nothing but the schema, stay writable.
 */
import * as diff from '../policy/contracts/diff';
import * as finding from '../policy/contracts/finding';
import * as jsonValue from '../policy/contracts/json-value';
import * as withdrawal from '../policy/contracts/withdrawal';
import * as breakers from '../policy/decide/breakers';
import * as breakerMessages from '../policy/decide/breaker-messages';
import './index';

for (const module of [diff, finding, jsonValue, withdrawal, breakers, breakerMessages]) {
  for (const exported of Object.values<unknown>(module)) {
    if (typeof exported !== 'object' || exported === null || !('_zod' in exported && 'safeParse' in exported)) continue;
    void exported.safeParse;
    Object.freeze(exported);
  }
}
