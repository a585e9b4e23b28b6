import type { Registry } from 'prom-client';

/** The samples of a registry by name with labels, as Prometheus reads them. */
export async function figures(registry: Registry): Promise<Readonly<Record<string, number>>> {
  const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}
