/** Imported before any schema: zod otherwise tries `new Function`, which the content security policy refuses and reports. */
import { config } from 'zod';

config({ jitless: true });
