import { Submission } from '../../../policy/contracts/diff';
import { judgeDefinition } from '../../../policy/judge/config';

test.each(['baseUrl', 'apiKey', 'provider', 'headers'])(
  'neither a bundle nor a change can set the %s of the judge’s backend [F5]',
  (member) => {
    expect(judgeDefinition.config.safeParse({ model: 'm' }).success).toBe(true);
    expect(judgeDefinition.config.safeParse({ model: 'm', [member]: 'https://elsewhere.example' }).success).toBe(false);
    expect(Object.keys(Submission.shape)).not.toContain(member);
  },
);
