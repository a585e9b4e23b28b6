/** `permanent`: another attempt would fail as well. */
export type Delivery =
  { readonly ok: true } | { readonly ok: false; readonly permanent: boolean; readonly why: string };

export const DELIVERED: Delivery = { ok: true };

export function undelivered(why: string, permanent = false): Delivery {
  return { ok: false, permanent, why };
}
