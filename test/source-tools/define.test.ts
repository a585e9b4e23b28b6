import type { SourceTool } from '../../policy/contracts/source-tool';
import { defineSourceTool, sourceToolRegistry } from '../../source-tools/define';
import { sqlCas, sqlDryRun } from '../../source-tools/sql';
import { plainTool } from '../support/source-tools';
import { diffOf } from './sql/staging/sql-diff';

const tool = (more: Partial<SourceTool>): SourceTool => ({ ...sqlDryRun, ...more });

describe('defineSourceTool', () => {
  it('rejects an invalid name, an enforced tool without staging, and a cooperative tool with staging', () => {
    expect(() => defineSourceTool(tool({ sourceTool: 'a b' }))).toThrow('expected 1 to 63');
    expect(() => defineSourceTool(tool({ staging: null }))).toThrow('give it staging, or make it cooperative');
    expect(() => defineSourceTool(tool({ mode: 'cooperative' }))).toThrow('remove the staging, or make it enforced');
    expect(defineSourceTool(tool({ mode: 'cooperative', staging: null })).staging).toBeNull();
  });

  it('freezes the tool, its renderer and its effects', async () => {
    expect(Object.isFrozen(sqlDryRun)).toBe(true);
    expect(Object.isFrozen(sqlDryRun.render)).toBe(true);
    expect(Object.isFrozen(await sqlDryRun.staging?.())).toBe(true);
  });

  it('rejects a duplicate name and a number of tools that differs from the expected one [T67]', () => {
    expect(() => sourceToolRegistry([sqlDryRun, sqlDryRun])).toThrow('registered twice');
    expect(() => sourceToolRegistry([sqlDryRun], 2)).toThrow('expected 2 entries');
    expect(sourceToolRegistry([sqlDryRun, sqlCas]).keys()).toEqual(['SQLDryRun', 'SQLCAS']);
  });
});

describe('a tool that defines only facts', () => {
  const diff = { ...diffOf('{"a":"\\u0062"}'), metadata: { affected_rows: 4 } };

  it('returns all bytes as texts, as staged and without escapes', async () => {
    const texts = plainTool.texts(await plainTool.facts(diff), diff);
    expect(texts.map(({ side, text }) => [side, text])).toEqual([
      ['added', '{"a":"\\u0062"}'],
      ['added', '{"a":"b"}'],
    ]);
    expect(texts[1]?.spanOf(6, 7)).toEqual({ startLine: 1, startColumn: 7, endLine: 1, endColumn: 8 });
  });

  it('measures no operations and no places, and takes the number of rows from the claim', async () => {
    const facts = await plainTool.facts(diff);
    expect(plainTool.measure(facts, diff)).toEqual({ operations: null, deletions: null, rows: 4 });
    expect([plainTool.touched(facts, diff), plainTool.claims(facts, diff)]).toEqual([null, null]);
  });

  it('is rendered as text', () => {
    expect(plainTool.render).toMatchObject({ name: 'text', language: 'text' });
  });
});

it('does not call the readers of a tool if its facts were refused', () => {
  const diff = diffOf('DELETE FROM');
  const refused = { ok: false, code: 'syntax_error', message: '', span: null } as const;
  expect(sqlDryRun.measure(refused, diff)).toEqual({ operations: null, deletions: null, rows: null });
  expect([sqlDryRun.touched(refused, diff), sqlDryRun.claims(refused, diff)]).toEqual([null, null]);
  expect(sqlDryRun.texts(refused, diff).map(({ text }) => text)).toEqual(['DELETE FROM']);
});
