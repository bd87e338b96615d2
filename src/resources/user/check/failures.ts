import { instant, int } from "../../../storage/table.ts";

/** How often wrong passwords and second factors were tried since the last right ones, and when last. */
export const failureColumns = () => ({
  passwordFailures: int(),
  passwordFailedAt: instant(),
  factorFailures: int(),
  factorFailedAt: instant(),
});

export const epoch = new Date(0);
export const noPasswords = { passwordFailures: 0, passwordFailedAt: epoch };
export const noFailures = { ...noPasswords, factorFailures: 0, factorFailedAt: epoch };
