/** Reasons of refusals that the console says in the reader's language, by the words `refused_…`. */
export const saidReasons = [
  "PERMISSION_MISSING",
  "USER_OUTRANKS_CALLER",
  "LAST_OWNER",
  "LOOSER_THAN_INSTANCE",
  "VALIDATION_FAILED",
  "FEATURE_DISABLED",
  "PASSWORD_TOO_SHORT",
  "PASSWORD_BREACHED",
  "PASSWORD_GUESSABLE",
  "PASSWORD_POLICY",
  "CREDENTIAL_OF_PERSON",
  "DOMAIN_NOT_PROVEN",
  "DOMAIN_PRIMARY",
  "ORGANIZATION_IS_DEFAULT",
  "WEB_KEY_ACTIVE",
  "EXPIRATION_TOO_FAR",
  "LOGO_NOT_AN_IMAGE",
] as const;

/** What other reasons end in, where the end says enough, and the word for it. The first that fits counts. */
export const saidEndings: readonly (readonly [ending: string, word: string])[] = [
  ["TAKEN", "TAKEN"],
  ["EXISTS", "EXISTS"],
  ["ALREADY", "ALREADY"],
  ["NOT_INACTIVE", "ALREADY"],
  ["INACTIVE", "INACTIVE"],
  ["NOT_FOUND", "NOT_FOUND"],
  ["UNKNOWN", "UNKNOWN"],
  ["INVALID", "INVALID"],
  ["MALFORMED", "INVALID"],
  ["MISSING", "MISSING"],
  ["REQUIRED", "MISSING"],
  ["UNSUPPORTED", "UNSUPPORTED"],
  ["TOO_MANY", "TOO_MUCH"],
  ["TOO_LARGE", "TOO_MUCH"],
  ["LIMIT", "TOO_MUCH"],
  ["EXCEEDED", "TOO_MUCH"],
  ["EXHAUSTED", "EXHAUSTED"],
  ["OUTRANKS_CALLER", "OUTRANKS"],
  ["IN_USE", "IN_USE"],
  ["USED", "SPENT"],
  ["SPENT", "SPENT"],
  ["DENIED", "DENIED"],
  ["UNAVAILABLE", "UNAVAILABLE"],
  ["TIMEOUT", "UNAVAILABLE"],
  ["BUSY", "BUSY"],
  ["LIMITED", "LIMITED"],
];

/** Reasons of log-ins and clients that were refused, as administrators read of them, by the words `attempt_…`. */
export const saidAttempts: readonly string[] = [
  "WRONG",
  "CLOSED",
  "UNKNOWN",
  "DIRECTORY_REFUSED",
  "DIRECTORY_UNAVAILABLE",
  "INVALID_CLIENT",
  "BUDGET_SPENT",
  "RATE_LIMITED",
  "IDP_DENIED",
  "IDP_UNAVAILABLE",
  "IDP_ANSWER_INVALID",
  "IDP_CONFIG_INVALID",
];

/** The word for a reason, where there is one. */
export function wordOfReason(reason: string): string | undefined {
  const said: readonly string[] = saidReasons;
  if (said.includes(reason)) return `refused_${reason}`;
  const found = saidEndings.find(([each]) => reason === each || reason.endsWith(`_${each}`));
  return found && `refused_${found[1]}`;
}
