import { coveringGlob, pathName } from '../../text/glob';
import { wordList } from '../../text/word-list';

/** Tests and their data, where most secrets are invented. */
const TEST_DATA = wordList(`
  **/test/** **/tests/** **/spec/** **/specs/** **/__tests__/** **/testdata/** **/test-data/** **/test_data/**
  **/fixtures/** **/fixture/** **/__fixtures__/** **/testing/** **/e2e/** **/mocks/** **/__mocks__/** **/*.test.*
  **/*.spec.* **/*_test.* **/test_*.py **/tests.rs **/tests.py **/*_spec.rb **/*Test.java **/*Tests.cs **/*Test.kt
`);

export function isTestData(path: string): boolean {
  return coveringGlob(TEST_DATA, pathName(path)) !== undefined;
}
