import type { Runtime } from '../../workers/embedded';

export default async function globalTeardown(): Promise<void> {
  await (globalThis as { countersignRuntime?: Runtime }).countersignRuntime?.stop();
}
