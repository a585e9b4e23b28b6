import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const HOW = 'no Chromium was found. Install one with .ci/install-chromium (Debian), or set CHROMIUM_PATH';

/** The browser of this machine; null if it has none. */
function chromiumPath(): string | null {
  const named = process.env['CHROMIUM_PATH'];
  if (named !== undefined && named !== '') return named;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if (['ENOENT', 'EACCES', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return false;
    throw error;
  }
}

/**
 * Tests that need a browser. On a machine without one they are reported as skipped, and as failed if
 * COUNTERSIGN_TEST_BROWSER=required.
 */
export function describeInBrowser(title: string, tests: () => void): void {
  if (chromiumPath() !== null) return describe(title, tests);
  if (process.env['COUNTERSIGN_TEST_BROWSER'] === 'required')
    return describe(title, () => test('needs a browser', () => Promise.reject(new Error(HOW))));
  process.stderr.write(`Skipped: "${title}", because ${HOW}\n`);
  describe.skip(title, tests);
}

export async function launchChromium(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === null) throw new Error(HOW);
  // Its sandbox needs user namespaces, which containers of continuous integration lack. Only pages of this repository are loaded.
  return await chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
