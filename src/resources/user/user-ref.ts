import type { SecretRef } from "../../eventstore/secret-store.ts";
import { onlyOne } from "./authenticator/authenticators.ts";

export type UserRef = { instanceId: string; userId: string };

/** Where secrets of a kind are that belong to users; without an id, of what a user has one of. */
export const secretsOfUsers =
  (kind: string) =>
  ({ instanceId, userId }: UserRef, id = onlyOne): SecretRef => ({
    instanceId,
    ownerType: "user",
    ownerId: userId,
    kind,
    id,
  });
