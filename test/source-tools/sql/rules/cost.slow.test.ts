import { unmodelledParts } from '../../../../source-tools/sql/facts/rehearsable';
import { onlyStatement } from '../../../../source-tools/sql/facts/tree';
import { leastCpuMs } from '../../../support/least-cpu';
import { factsOf } from './support/run-rule';

it('examines values with many casts in a time that does not grow with the square of their number', async () => {
  const value = `(gen_random_uuid()${'::text'.repeat(450)})`;
  const sql = `INSERT INTO t VALUES ${Array.from({ length: 60 }, () => value).join()}`;
  await factsOf(sql); // loads the parser
  const insert = onlyStatement(sql);
  if (insert === null) throw new Error('expected one statement');
  expect(leastCpuMs(() => unmodelledParts({ [insert.type]: insert.node }), 2)).toBeLessThan(3000);
});
