import { defineSourceTool, sourceToolRegistry, type SourceTool } from '../../source-tools/define';
import { createSqlCasTool } from '../../source-tools/sql/sql-cas-tool';
import { diffOf, sqlDryRun } from './sql/staging/sql-diff';

const tool = (more: Partial<SourceTool>): SourceTool => ({ ...sqlDryRun, ...more });

describe('defineSourceTool', () => {
  it('refuses a bad name, an enforced tool without effects, and a cooperative one with them', () => {
    expect(() => defineSourceTool(tool({ sourceTool: 'a b' }))).toThrow('expected 1 to 63');
    expect(() => defineSourceTool(tool({ effects: null }))).toThrow('give it effects, or make it cooperative');
    expect(() => defineSourceTool(tool({ mode: 'cooperative' }))).toThrow('leave them out, or make it enforced');
    expect(defineSourceTool(tool({ mode: 'cooperative', effects: null })).effects).toBeNull();
  });

  it('is frozen, with its effects', () => {
    expect(Object.isFrozen(sqlDryRun)).toBe(true);
    expect(Object.isFrozen(sqlDryRun.effects)).toBe(true);
  });

  it('registers each name once, and as many as were expected [T67]', () => {
    expect(() => sourceToolRegistry([sqlDryRun, sqlDryRun])).toThrow('registered twice');
    expect(() => sourceToolRegistry([sqlDryRun], 2)).toThrow('expected 2 entries');
    expect(sourceToolRegistry([sqlDryRun, createSqlCasTool()]).keys()).toEqual(['SQLDryRun', 'SQLCAS']);
  });
});

describe('rendering', () => {
  it('shows the bytes as they are: text line for line, anything else as hex', () => {
    expect(sqlDryRun.render(diffOf('\uFEFFSELECT 1;\r\n-- \u202E'))).toEqual({
      language: 'sql',
      text: '\uFEFFSELECT 1;\r\n-- \u202E',
    });
    expect(sqlDryRun.render(diffOf(new Uint8Array([0xff, 0x41])))).toEqual({ language: 'hex', text: 'ff41' });
    expect(createSqlCasTool().render(diffOf('{}'))).toEqual({ language: 'json', text: '{}' });
  });
});
