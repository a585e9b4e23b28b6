import type { JudgeScript } from './scripted-judge';

/** What the scripted judge objects to: an address of a customer that leaves for another company. Everything else it lets pass. */
export const judgeScript: JudgeScript = (message) => {
  const lines = message.split('\n');
  const index = lines.findIndex((line) => line.includes('partner.example'));
  if (index === -1) return {};
  return {
    observations: [{ line: 1, effect: 'A customer’s e-mail address is replaced by one of another company' }],
    concerns: [
      {
        policyId: 'personal_data',
        severity: 'WARN',
        lines: [1],
        quote: 'partner.example',
        why: 'The customer’s mail would go to an address outside the shop',
      },
    ],
    confidence: 'medium',
  };
};
