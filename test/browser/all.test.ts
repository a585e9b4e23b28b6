import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { useEnvironment } from './support/environment';
import { describeInBrowser } from './support/chromium';

/** All files with one environment and one browser, because starting them takes longer than most of the tests. */
describeInBrowser('the inbox in a browser', () => {
  useEnvironment();
  const files = readdirSync(__dirname).filter((name) => name.endsWith('.test.ts') && name !== basename(__filename));
  for (const file of files.toSorted()) describe(file, () => void require(join(__dirname, file)));
});
