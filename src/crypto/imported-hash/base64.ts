/**
 * The bytes of a base64 text with or without padding, where `.` may stand for `+` (as passlib writes it); undefined
 * for any other text.
 */
export function fromBase64(text: string): Buffer | undefined {
  const [, digits] = /^([A-Za-z0-9+/.]+)={0,2}$/.exec(text) ?? [];
  if (digits === undefined || digits.length % 4 === 1) return undefined;
  return Buffer.from(digits.replaceAll(".", "+"), "base64");
}

const cryptDigits = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The value of a digit of crypt(3), or -1. */
export const cryptDigit = (digit: string): number => cryptDigits.indexOf(digit);

/** So many digits of crypt(3), the lowest six bits first. */
export function cryptDigitsOf(value: number, count: number): string {
  let text = "";
  for (let left = value, at = 0; at < count; at++, left >>>= 6) text += cryptDigits[left & 63];
  return text;
}

/** Bytes in the alphabet of crypt(3): three bytes, the first one lowest, make four digits. */
export function cryptBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const [low = 0, middle = 0, high = 0] = bytes.subarray(at, at + 3);
    const count = Math.min(4, Math.ceil(((bytes.length - at) * 8) / 6));
    text += cryptDigitsOf(low | (middle << 8) | (high << 16), count);
  }
  return text;
}
