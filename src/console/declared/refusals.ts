/** Reasons of refusals that the console says in the reader's language, by the words `refused_…`. */
export const saidReasons = [
  "PERMISSION_MISSING",
  "USER_OUTRANKS_CALLER",
  "LAST_OWNER",
  "LOOSER_THAN_INSTANCE",
  "PASSWORD_TOO_SHORT",
  "DOMAIN_NOT_PROVEN",
] as const;

/** What other reasons end in, where the end says enough. */
export const saidEndings = [
  "TAKEN",
  "EXISTS",
  "NOT_FOUND",
  "BUSY",
  "LIMITED",
  "EXHAUSTED",
] as const;

/** The word for a reason, where there is one. */
export function wordOfReason(reason: string): string | undefined {
  const said: readonly string[] = saidReasons;
  if (said.includes(reason)) return `refused_${reason}`;
  const ending = saidEndings.find((each) => reason === each || reason.endsWith(`_${each}`));
  return ending && `refused_${ending}`;
}
