import { RUN_ALL } from '../support/extent';
import { describeAllFiles } from './support/all-files';
import { describeInBrowser } from './support/chromium';
import { useEnvironment } from './support/environment';

/** What `npm test` runs, because all files take five minutes. `npm run test:browser` and continuous integration run all of them. */
const SAMPLE = ['path.test.ts'];

/** All files with one environment and one browser, because starting them takes longer than most of the tests. */
describeInBrowser('the inbox in a browser', () => {
  useEnvironment();
  describeAllFiles(__dirname, __filename, RUN_ALL ? null : SAMPLE);
});
