/** The administrator's URL with another role and its password. */
export function asRole(adminUrl: string, role: string, password: string): string {
  const url = new URL(adminUrl);
  url.username = role;
  url.password = password;
  return url.href;
}
