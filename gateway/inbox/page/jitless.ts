/** Imported before any schema: zod otherwise tries to compile code from text, which the content security policy refuses and reports. */
import { config } from 'zod';

config({ jitless: true });
