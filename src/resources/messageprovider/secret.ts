import type { SecretRef } from "../../eventstore/secret-store.ts";
import type { ProviderConfig } from "./kind.ts";

type Named = { name: string };

const secretKind = ({ name }: Named): string => `${name}_secret`;

/** What a provider proves itself with, or its calls are signed with. */
export const providerSecretRef = (kind: Named, log: string, id: string): SecretRef => ({
  instanceId: log,
  ownerType: kind.name,
  ownerId: id,
  kind: secretKind(kind),
  id: "1",
});

/** Whether calls of the provider are signed, by a key that the service made. */
export const isSigned = ({ kind }: ProviderConfig): boolean => kind === "http";
