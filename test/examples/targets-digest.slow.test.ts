import { makeRepository } from '../../dev/fixtures/git-repository';
import { startJsonApi } from '../../dev/fixtures/json-api';
import { targetsDigest } from '../../examples/attacks/shop';

test('an attack has an effect if it changes a row of a shop, a branch of the repository or a resource of the API', async () => {
  const repository = makeRepository({ 'README.md': 'one\n' });
  const api = await startJsonApi({ on: false });
  let rows = 'first';
  const digest = (): Promise<string> => targetsDigest(async () => rows, repository, api);
  try {
    const digests = [await digest()];
    expect(await digest()).toBe(digests[0]);
    rows = 'second';
    digests.push(await digest());
    repository.push({ 'README.md': 'two\n' });
    digests.push(await digest());
    await fetch(`${api.url}/flags/beta`, { method: 'PUT', body: '{"on":true}', headers: await ifMatch(api.url) });
    digests.push(await digest());
    expect(new Set(digests).size).toBe(digests.length);
  } finally {
    await api.stop();
    repository.remove();
  }
});

async function ifMatch(url: string): Promise<Record<string, string>> {
  const { headers } = await fetch(`${url}/flags/beta`);
  return { 'if-match': headers.get('etag') ?? '' };
}
