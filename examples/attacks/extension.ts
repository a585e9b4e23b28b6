import { defineCallback } from '../../policy/rules/callback';

/** The callback of the policy `gifts`: refuses a gift over 200 cents without asking a person. */
const smallGift = defineCallback({
  key: 'small_gift',
  version: '1',
  evaluate: ({ metadata }) => {
    const cents = Number(metadata['cents']);
    return { passed: cents <= 200, message: `a gift of ${cents} cents` };
  },
});

export const extension = { callbacks: [smallGift] };
