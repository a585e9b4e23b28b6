/**
 * Whether 32 bytes are an Ed25519 public key that may be registered.
 *
 * node:crypto takes any 32 bytes. A key of small order verifies one signature for almost every message, so a person with such a key
 * "signed" everything. This runs once for each key and entry, on public data: clarity over speed, BigInt over constant time.
 */
const P = 2n ** 255n - 19n;
const D = mod(-121665n * inverse(121666n));
const SQRT_MINUS_ONE = power(2n, (P - 1n) / 4n);

/** Null when good; otherwise what is wrong. RFC 8032 §5.1.3 decoding, then order. */
export function publicKeyProblem(bytes: Uint8Array): string | null {
  if (bytes.length !== 32) return `expected 32 bytes, got ${bytes.length}`;
  const sign = (bytes[31] ?? 0) >> 7;
  let y = 0n;
  for (let i = 31; i >= 0; i--) y = (y << 8n) | BigInt(i === 31 ? (bytes[i] ?? 0) & 0x7f : (bytes[i] ?? 0));
  if (y >= P) return 'not the canonical encoding of a point';
  const x = recoverX(y, sign);
  if (x === null) return 'not a point of the curve';
  return hasSmallOrder(x, y) ? 'a point of small order: it would verify signatures that nobody made' : null;
}

function recoverX(y: bigint, sign: number): bigint | null {
  const yy = mod(y * y);
  const xx = mod((yy - 1n) * inverse(mod(D * yy + 1n)));
  let x = power(xx, (P + 3n) / 8n);
  if (mod(x * x) !== xx) x = mod(x * SQRT_MINUS_ONE);
  if (mod(x * x) !== xx) return null;
  if (x === 0n && sign === 1) return null;
  return (x & 1n) === BigInt(sign) ? x : mod(-x);
}

// Small order: eight times the point is the identity (0, 1).
function hasSmallOrder(x: bigint, y: bigint): boolean {
  let [px, py] = [x, y];
  for (let i = 0; i < 3; i++) [px, py] = double(px, py);
  return px === 0n && py === 1n;
}

function double(x: bigint, y: bigint): [bigint, bigint] {
  const dxxyy = mod(D * x * x * y * y);
  return [mod(2n * x * y * inverse(mod(1n + dxxyy))), mod((y * y + x * x) * inverse(mod(1n - dxxyy)))];
}

function mod(a: bigint): bigint {
  const rest = a % P;
  return rest < 0n ? rest + P : rest;
}

function inverse(a: bigint): bigint {
  return power(mod(a), P - 2n);
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let factor = mod(base);
  for (let e = exponent; e > 0n; e >>= 1n) {
    if (e & 1n) result = (result * factor) % P;
    factor = (factor * factor) % P;
  }
  return result;
}
