import { createServer, type AddressInfo } from 'node:net';
import { naming } from '../../cli/init/naming';
import { ConfigError } from '../../workers/config';
import { withConnection } from '../../workers/temporal';

it('names the option of the server that fails', async () => {
  const fail = async (): Promise<never> => Promise.reject(new Error('password authentication failed'));
  await expect(naming('--target shop', fail)).rejects.toThrow('--target shop: password authentication failed');
});

it('does not change an error that says what to do', async () => {
  const error = new ConfigError('give --rotate');
  await expect(naming('--target shop', async () => Promise.reject(error))).rejects.toBe(error);
});

it('names the address of Temporal if it does not answer', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const address = `127.0.0.1:${port}`;
  const work = jest.fn(async () => undefined);
  await expect(withConnection({ TEMPORAL_ADDRESS: address }, work, 300)).rejects.toThrow(`Temporal at ${address}: `);
  expect(work).not.toHaveBeenCalled();
});
