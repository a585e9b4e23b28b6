/** `fast` is what `npm run check` runs; `slow`, `system` and `browser` are run by `npm test` besides; see CONTRIBUTING.md. */
const common = {
  testEnvironment: '<rootDir>/test/support/node-environment.js',
  transform: {
    // ES modules only.
    '/node_modules/(@noble|@scure)/': '<rootDir>/test/support/native-module.js',
    '^.+\\.[jt]sx?$': ['@swc/jest', { jsc: { target: 'es2023', parser: { syntax: 'typescript', tsx: true } } }],
  },
  setupFiles: ['<rootDir>/test/support/property-seed.ts'],
  moduleNameMapper: {
    // Of the compiled sources.
    '^\\.{1,2}/workflow-bundle$': '<rootDir>/test/support/workflow-bundle.ts',
    // Dynamic imports name the compiled file.
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transformIgnorePatterns: ['/node_modules/(?!@noble/|@scure/)'],
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/client/dist', '<rootDir>/.countersign'],
};

/** Set by `npm run check` and `npm test`: the tests run in a few parts, each of which loads the modules once. */
const inParts = process.env.COUNTERSIGN_TEST_PARTS === '1';

/** Files of the slow tests that look at the modules that are loaded. */
const alone = require('./test/parts/alone.json').map((file) => `<rootDir>/${file}`);

module.exports = {
  // Jest's 5 s are too short for a busy machine; only a test that hangs takes this long. Jest ignores it within a project.
  testTimeout: 60_000,
  // A new process for each file: forking a process takes longer the more memory it has.
  workerIdleMemoryLimit: '50MB',
  testSequencer: '<rootDir>/test/support/slowest-first.js',
  projects: [
    {
      ...common,
      displayName: 'fast',
      ...(inParts
        ? { testMatch: ['<rootDir>/test/parts/fast-*.test.ts'] }
        : {
            testMatch: ['<rootDir>/test/**/*.test.ts'],
            testPathIgnorePatterns: [
              '/node_modules/',
              '<rootDir>/test/(system|parts|browser)/',
              '\\.slow\\.test\\.ts$',
            ],
          }),
    },
    {
      ...common,
      displayName: 'slow',
      testMatch: inParts ? ['<rootDir>/test/parts/slow-*.test.ts', ...alone] : ['<rootDir>/test/**/*.slow.test.ts'],
      globalSetup: '<rootDir>/test/support/slow-setup.ts',
      globalTeardown: '<rootDir>/test/support/slow-teardown.ts',
    },
    {
      ...common,
      displayName: 'system',
      testMatch: [inParts ? '<rootDir>/test/parts/system-*.test.ts' : '<rootDir>/test/system/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.ts',
      globalTeardown: '<rootDir>/test/support/global-teardown.ts',
    },
    {
      ...common,
      displayName: 'browser',
      // Together, all files share one browser and one gateway. A file that is named is run alone.
      ...(inParts
        ? { testMatch: ['<rootDir>/test/browser/all.test.ts'] }
        : {
            testMatch: ['<rootDir>/test/browser/**/*.test.ts'],
            testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/browser/all\\.test\\.ts$'],
          }),
      globalSetup: '<rootDir>/test/support/global-setup.ts',
      globalTeardown: '<rootDir>/test/support/global-teardown.ts',
    },
  ],
};
