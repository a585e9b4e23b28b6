import type { JudgeScript } from './scripted-judge';

/** The scripted judge objects to a customer's e-mail address at another company and allows everything else. */
export const judgeScript: JudgeScript = (message) => {
  const lines = message.split('\n');
  const index = lines.findIndex((line) => line.includes('partner.example'));
  if (index === -1) return {};
  return {
    observations: [{ line: 1, effect: 'Replaces a customer’s e-mail address with one at another company' }],
    concerns: [
      {
        policyId: 'personal_data',
        severity: 'WARN',
        lines: [1],
        quote: 'partner.example',
        why: 'The customer’s e-mail would go to an address outside the shop',
      },
    ],
    confidence: 'medium',
  };
};
