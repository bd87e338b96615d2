/** A member of an enum by its name, as generated code has it. */
type Members = Readonly<Record<string, number>>;
type WordOf<E extends Members, P extends string> = Exclude<
  { [K in keyof E]: K extends `${P}${infer N}` ? Lowercase<N> : never }[keyof E],
  "unspecified"
>;
type Words<W, M> = { word(member: number): W; member(word: string): M };

/**
 * The words that the domain has for the members of an enum: their names in lower case, without what all begin with.
 *
 * @param unchosen the word for a member that was not chosen, or that is not known
 */
export function wordsOf<E extends Members, U extends string, P extends string = "">(
  members: E,
  unchosen: U,
  prefix?: P,
): Words<WordOf<E, P> | U, E[keyof E]> {
  const beginning = prefix?.length ?? 0;
  const pairs = Object.entries(members)
    .map(([name, member]) => [name.slice(beginning).toLowerCase(), member] as const)
    .filter(([word]) => word !== "unspecified");
  const words = new Map<number, string>(pairs.map(([word, member]) => [member, word]));
  const byWord = new Map<string, number>(pairs);
  return {
    // Names are made words as the type says.
    word: (member: number) => (words.get(member) ?? unchosen) as WordOf<E, P> | U,
    member: (word: string) => (byWord.get(word) ?? byWord.get(unchosen) ?? 0) as E[keyof E],
  };
}
