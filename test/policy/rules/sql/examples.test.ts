import { ValidatorResult } from '../../../../policy/contracts/finding';
import { sqlExamples, sqlPostgresPack } from '../../../../policy/rules/sql';
import { sqlPostgresStylePack, sqlStyleExamples } from '../../../../policy/rules/sql/style';
import { run, updatedRows } from './support/run-rule';

const pack = [...sqlPostgresPack, ...sqlPostgresStylePack];

describe.each(pack.map((d) => d.implementation))('%s', (name) => {
  const example = sqlExamples[name] ?? sqlStyleExamples[name];
  if (example === undefined) throw new Error(`no examples for ${name}`);
  const { bad, good, config, rows } = example;
  const options = (count: number | undefined) => ({
    ...(config === undefined ? {} : { config }),
    ...(count === undefined ? {} : { staging: updatedRows('public.orders', count) }),
  });

  it('fires on its bad example, with evidence that a finding may carry [G24]', async () => {
    const result = await run(name, bad, options(rows?.bad), pack);
    expect(result.status).not.toBe('ALLOW');
    expect(result.errorClass).toBeUndefined();
    expect(ValidatorResult.parse(result)).toEqual(result);
  });

  it('passes its good example', async () => {
    const result = await run(name, good, options(rows?.good), pack);
    expect(result).toMatchObject({ status: 'ALLOW' });
  });
});
