import { closingQuote } from './json-string';

/**
 * Offset of the first number in a valid JSON text that a double cannot represent exactly, or null. 9007199254740993 would
 * silently become …992, and 0.1234567890123456789 would lose digits. Linear time.
 */
export function inexactNumberAt(json: string): number | null {
  for (let at = 0; at < json.length; at++) {
    const c = json[at] as string;
    if (c === '"') {
      at = closingQuote(json, at + 1);
      if (at === -1) return null;
    } else if (c === '-' || isDigit(c)) {
      let end = at + 1;
      while (end < json.length && '+-.eE0123456789'.includes(json[end] as string)) end++;
      if (!isExact(json.slice(at, end))) return at;
      at = end - 1;
    }
  }
  return null;
}

function isExact(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return false;
  // Above 2^53, neighbouring integers share one double, even if this integer is representable.
  if (Number.isInteger(value) && Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  return normalized(token) === normalized(String(value));
}

/** Sign, digits without leading and trailing zeros, and the exponent of the last digit. */
function normalized(token: string): string {
  const [mantissa = '', exponent = '0'] = token.toLowerCase().split('e');
  const negative = mantissa.startsWith('-');
  const [whole = '', fraction = ''] = mantissa.replace(/^[-+]/, '').split('.');
  let digits = whole + fraction;
  let power = Number(exponent) - fraction.length;
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end--;
  power += digits.length - end;
  let start = 0;
  while (start < end && digits[start] === '0') start++;
  digits = digits.slice(start, end);
  return digits === '' ? '0' : `${negative ? '-' : ''}${digits}e${power}`;
}

function isDigit(c: string): boolean {
  return c >= '0' && c <= '9';
}
