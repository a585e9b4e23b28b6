import { describeAllFiles } from './support/all-files';
import { describeInBrowser } from './support/chromium';
import { useEnvironment } from './support/environment';

/** All files with one environment and one browser, because starting them takes longer than most of the tests. */
describeInBrowser('the inbox in a browser', () => {
  useEnvironment();
  describeAllFiles(__dirname, __filename);
});
