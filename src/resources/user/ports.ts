import type { NoteUse, SessionMakers, TokensInName } from "../../authz/ports.ts";
import type { Deps } from "../../projection/module.ts";
import type { IntentPorts } from "../idpintent/index.ts";

/** What users ask of the service, beside what every slice may use. */
export type UserPorts = IntentPorts & {
  /** Whether a password is known from a breach; no, where that cannot be found out (L7). */
  isBreached: (password: string) => Promise<boolean>;
  /** Notes that a key, secret or token was used, once an hour. */
  noteUse: NoteUse;
  /** By whom the sessions of a user were made. */
  sessionMakers: SessionMakers;
  /** Who acts by what was issued in the name of a user. */
  tokensInName: TokensInName;
};

export type UserDeps = Deps & UserPorts;
