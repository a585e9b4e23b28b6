import { PassThrough } from 'node:stream';
import { processHost } from '../../cli/host';

const replaced = { stdin: process.stdin, stderr: process.stderr };
const replace = (streams: object): void => {
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { value, configurable: true });
};
afterEach(() => replace(replaced));

/** Asks with input and output that are not terminals. */
function ask(input: string): Promise<string> {
  const stdin = new PassThrough();
  replace({ stdin, stderr: new PassThrough() });
  stdin.end(input);
  return processHost('9.9.9', {}).prompt('Type "confirm" or "reject":');
}

it('a question returns the line that answers it', async () => {
  await expect(ask('confirm\n')).resolves.toBe('confirm');
});

it('a question fails if the input ends before an answer', async () => {
  await expect(ask('')).rejects.toThrow('The input ended before an answer');
}, 2_000);
