import { Submission } from '../../../policy/contracts/diff';
import { judgeDefinition } from '../../../policy/judge/config';

test.each(['baseUrl', 'apiKey', 'provider', 'headers'])(
  'which backend answers is the platform’s choice: a bundle names a model and cannot set its %s, nor can a change [F5]',
  (member) => {
    expect(judgeDefinition.config.safeParse({ model: 'm' }).success).toBe(true);
    expect(judgeDefinition.config.safeParse({ model: 'm', [member]: 'https://elsewhere.example' }).success).toBe(false);
    expect(Object.keys(Submission.shape)).not.toContain(member);
  },
);
