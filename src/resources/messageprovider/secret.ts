import { onlySecretOf, type SecretRef } from "../../eventstore/secret-store.ts";
import type { ProviderConfig } from "./kind.ts";

/** What a provider proves itself with, or its calls are signed with. */
export const providerSecretRef = ({ name }: { name: string }, log: string, id: string): SecretRef =>
  onlySecretOf(name, `${name}_secret`)(log, id);

/** Whether calls of the provider are signed, by a key that the service made. */
export const isSigned = ({ kind }: ProviderConfig): boolean => kind === "http";
