/** Whether `host` is the entry, or one of its subdomains if the entry is `*.host`. Both in lower case. */
export function isBelowHost(entry: string, host: string): boolean {
  return entry.startsWith('*.') ? host.endsWith(entry.slice(1)) : entry === host;
}
