import { z } from 'zod';
import { coveringGlob } from '../../../policy/text/glob';
import { describeLine } from '../../../policy/text/line-patterns';
import { wordList } from '../../../policy/text/word-list';
import { addedHits, atFile, gitRule, globs, MODIFIED, patchOf } from './define-git-rule';
import { assertsIn, countsOf, isOfNewTest, isSnapshot, losses, lostFiles, nameBefore, testsIn } from './test-losses';
import {
  IGNORED_IN_RUST,
  IGNORED_IN_RUST_WORDS,
  LENIENT,
  LENIENT_WORDS,
  SKIPPED,
  SKIPPED_WORDS,
} from './test-patterns';
import { loweredThresholds } from './thresholds';

const TESTS = wordList(`
  **/test/** **/tests/** **/spec/** **/__tests__/** **/e2e/** **/cypress/** **/*Tests/** **/*.Test/**
  **/androidTest/** **/integrationTest/** **/*.test.* **/*.spec.* **/*-test.* **/*-spec.* **/*_test.* **/*_tests.*
  **/*_unittest.* **/*.cy.* **/*.e2e.* **/tests.py **/tests.rs **/test_*.py **/*Test.java **/*Tests.java **/*IT.java
  **/*Test.kt **/*Spec.kt **/*Test.cs **/*Tests.cs **/*Test.php **/*TestCase.php **/*Spec.scala **/*Spec.groovy
  **/*Tests.swift **/*_spec.rb **/*.feature **/*.bats
`);
const CONFIGS = wordList(`
  **/jest.config.* **/vitest.config.* **/vite.config.* **/.nycrc* **/.c8rc* **/.taprc **/.mocharc*
  **/playwright.config.* **/cypress.config.* **/karma.conf.* **/angular.json **/package.json **/pyproject.toml
  **/setup.cfg **/pytest.ini **/tox.ini **/.coveragerc **/.simplecov **/spec_helper.rb **/test_helper.rb
  **/phpunit.xml* **/infection.json* **/codecov.y*ml **/.codecov.y*ml **/sonar-project.properties **/stryker.conf*
  **/*.runsettings **/pom.xml **/build.gradle* .github/workflows/** .gitlab-ci.yml
`);
const RUST = ['**/*.rs'];

export const testWeakening = gitRule({
  name: 'git_test_weakening',
  logicRevision: 9,
  defaultLevel: 'confirm',
  why: 'Deleting, skipping or weakening a test is the easiest way to make a build pass.',
  config: z.strictObject({
    tests: globs(200).default(TESTS).describe('Globs of test files.'),
    configs: globs(200).default(CONFIGS).describe('Globs of files that configure test runs and coverage thresholds.'),
    maxSnapshots: z.int().min(0).default(3).describe('Maximum number of changed snapshot files.'),
    maxLostAsserts: z
      .int()
      .min(0)
      .default(0)
      .describe('Maximum number of assertions, and of tests, that the test files may lose.'),
  }),
  examples: {
    bad: patchOf('test/pay.test.ts', MODIFIED, [
      "-it('refuses a negative amount', () => {",
      "+it.skip('refuses a negative amount', () => {",
    ]),
    good: patchOf('src/skip.ts', MODIFIED, ['-list.skip(1)', '+list.skip(2)']),
  },
  find: ({ files }, { tests, configs, maxSnapshots, maxLostAsserts }) => {
    const snapshots = files.filter(({ file }) => isSnapshot(file));
    const testFiles = files.filter((view) => coveringGlob(tests, nameBefore(view)) !== undefined);
    const rustFiles = files.filter(
      (view) => coveringGlob(RUST, view.name) !== undefined && coveringGlob(tests, nameBefore(view)) === undefined,
    );
    const after = files.filter((view) => coveringGlob(tests, view.name) !== undefined);
    const moved = countsOf(after.flatMap((view) => assertsIn(view, '+')));
    const movedTests = countsOf([...after, ...rustFiles].flatMap((view) => testsIn(view, '+')));
    return [
      ...testFiles.flatMap((view) => lostFiles(view, files, moved, tests)),
      ...losses(testFiles, assertsIn, moved, maxLostAsserts, 'assertion'),
      ...losses([...testFiles, ...rustFiles], testsIn, movedTests, maxLostAsserts, 'test'),
      ...testFiles.flatMap((view) =>
        addedHits(
          view,
          SKIPPED_WORDS,
          (text) => describeLine(SKIPPED, text),
          (line) => !isOfNewTest(view, line),
        ),
      ),
      ...rustFiles.flatMap((view) =>
        addedHits(
          view,
          IGNORED_IN_RUST_WORDS,
          (text) => describeLine(IGNORED_IN_RUST, text),
          (line) => !isOfNewTest(view, line),
        ),
      ),
      ...files.flatMap((view) =>
        coveringGlob(configs, view.name) === undefined
          ? []
          : [...addedHits(view, LENIENT_WORDS, (text) => describeLine(LENIENT, text)), ...loweredThresholds(view)],
      ),
      ...(snapshots.length > maxSnapshots
        ? snapshots.map(({ file }) => atFile(file, 'the snapshot is one of many that change'))
        : []),
    ];
  },
});
