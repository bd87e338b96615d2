/**
 * A number in the global form of RFC 3966, as it is stored: E.164. Undefined for what is none: a number without its country, an
 * extension or another parameter, too few or too many digits.
 */
export function storedPhoneNumber(text: string): string | undefined {
  const number = text.replace(/^tel:/i, "").replaceAll(/[ ().-]/g, "");
  return /^\+[1-9][0-9]{3,14}$/.test(number) ? number : undefined;
}
