import { createRedactor } from '../../../policy/judge/redact';
import { leastCpuMs } from '../../support/least-cpu';

describe('createRedactor', () => {
  it('takes linear time on hostile text', () => {
    const hostile = [
      'a'.repeat(2 ** 18),
      'password='.repeat(25_000),
      '://'.repeat(75_000),
      '-----BEGIN PRIVATE KEY'.repeat(10_000),
      `"${'\\'.repeat(2 ** 18)}`,
      "token='".repeat(30_000),
      'token/'.repeat(40_000),
      'password=$'.repeat(25_000),
      'a=b='.repeat(62_000),
      'sk-a1/'.repeat(40_000),
      '-u a'.repeat(62_000),
      'secret:'.repeat(35_000),
      "token 'x' ".repeat(22_000),
      'kty d:'.repeat(40_000),
      '\nMIIEvQIBADA'.repeat(20_000),
      "SET val = 'a' WHERE ".repeat(13_000),
      'variable "pass" {'.repeat(15_000),
      'password:\n'.repeat(25_000),
      'mysql '.repeat(40_000),
      'sshpass -p '.repeat(24_000),
      'echo a1'.repeat(37_000),
    ];
    for (const text of hostile) {
      expect([text.slice(0, 12), leastCpuMs(() => createRedactor().redact(text), 1) < 10_000]).toEqual([
        text.slice(0, 12),
        true,
      ]);
    }
  });
});
