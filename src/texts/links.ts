import type { IntlMessageFormat } from "intl-messageformat";

type Part = ReturnType<IntlMessageFormat["getAst"]>[number];

// Stands for a value of which nothing is known.
const blank = "\uFFFC";
// Choices within choices multiply: no text that people write needs more.
const mostVariants = 64;

/** The texts of messages, which lie in mailboxes where whatever looks like a link becomes one. */
export const isMessageKey = (key: string): boolean => key.startsWith("message.");

/**
 * Whether a text reads as an address of the web, in any of its variants: a code behind one would be somebody else's
 * (J9). Mail addresses are none, unless a value stands within one.
 */
export function holdsLink(parts: readonly Part[]): boolean {
  const variants = variantsOf(parts);
  return variants === undefined || variants.some(readsAsLink);
}

/** Whether mail programs may make a link of a text. */
export function readsAsLink(variant: string): boolean {
  const text = variant.normalize("NFKC").replaceAll(/\p{Cf}/gu, "");
  if (/\/\/|\bwww\./iu.test(text)) return true;
  if (/\b(?:https?|ftp|mailto|tel|javascript|data):/iu.test(text)) return true;
  const withoutMails = text.replaceAll(
    /[\p{L}\p{N}._+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+(?![\p{L}\p{N}/:?#\uFFFC-]|\.[\p{L}\p{N}\uFFFC])/gu,
    " ",
  );
  return (
    /[\p{L}\p{N}\uFFFC-]\.(?:\p{L}{2,}|xn--|\uFFFC)/u.test(withoutMails) ||
    /\d+(?:\.\d+){3}/u.test(text)
  );
}

/** What a message may say, each value a blank; undefined where that is too much to look at. */
function variantsOf(parts: readonly Part[]): string[] | undefined {
  let all = [""];
  for (const part of parts) {
    const more = variantsOfPart(part);
    if (more === undefined || all.length * more.length > mostVariants) return undefined;
    all = all.flatMap((start) => more.map((end) => start + end));
  }
  return all;
}

function variantsOfPart(part: Part): string[] | undefined {
  if ("options" in part) {
    const branches = Object.values(part.options).map(({ value }) => variantsOf(value));
    return branches.some((branch) => branch === undefined)
      ? undefined
      : branches.flatMap((branch) => branch ?? []);
  }
  if ("children" in part) return variantsOf(part.children);
  // Of the kinds of parts the only one whose value is text.
  return ["value" in part && Number(part.type) === 0 ? part.value : blank];
}
