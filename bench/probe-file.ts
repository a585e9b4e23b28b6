import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function probeFile(pid: number): string {
  return join(tmpdir(), `countersign-probe-${pid}.json`);
}
