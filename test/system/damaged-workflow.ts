import { sleep } from '@temporalio/workflow';

/** Not what a review does: its first command is a timer. */
export async function review(): Promise<void> {
  await sleep(1);
}
