/** What is searched for: a phone number as it is kept, without what people write between its digits; any other text as it is. */
export const searched = (q: string): string =>
  /^\+[\d\s()./-]+$/.test(q) ? q.replace(/[^+\d]/g, "") : q;
