import type { Runtime } from '../../dev/embedded/runtime';

export default async function globalTeardown(): Promise<void> {
  await (globalThis as { countersignRuntime?: Runtime }).countersignRuntime?.stop();
}
