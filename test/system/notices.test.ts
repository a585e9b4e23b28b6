import { createServer, type IncomingMessage, type Server } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noticeStore } from '../../storage/notices/notices';
import { readNotices } from '../../workers/notices/settings';
import { startNotices } from '../../workers/notices/start-notices';
import { eventually } from '../support/eventually';
import { SHOP_SQL, shopBundle, shopExtension } from '../support/shop-bundle';
import { startSystem, type System } from '../support/system';
import { DRAFT, waitingPrice } from './scenarios';

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'notices', bundleText: shopBundle(), extension: shopExtension, shopSql: SHOP_SQL });
}, 120_000);
afterAll(() => system.close());
jest.setTimeout(120_000);
