import { ruleTitle } from '../../../../gateway/inbox/page/model/cards';

it.each([
  ['guardian.sql_affected_rows', 'SQL affected rows'],
  ['guardian.usual', 'Usual'],
  // A name that every object inherits.
  ['guardian.constructor', 'Constructor'],
  ['guardian.new_constructor', 'New constructor'],
  ['', ''],
])('the title of %j is %j', (id, title) => {
  expect(ruleTitle(id)).toBe(title);
});
