import OpenAI from 'openai';
import { createBoundedFetch } from './bounded-fetch';

/**
 * A client of an OpenAI-compatible server. It reads no key, address, organization or header from the process environment, never
 * retries, and sends requests to the host of `baseUrl` only.
 */
export function modelClient(baseUrl: string, apiKey: string): OpenAI {
  return new OpenAI({
    apiKey,
    baseURL: baseUrl,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: 'off',
    fetch: createBoundedFetch(new URL(baseUrl).host),
  });
}
