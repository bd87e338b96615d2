import type { DescEnum, DescMessage } from "@bufbuild/protobuf";
import { type DomainError, failedPrecondition, notFound } from "../../errors.ts";

/** Where a provider can belong. */
export type ProviderLevel = "system" | "instance";

/** How a provider is reached. What is of another `kind` is another configuration altogether. */
export type ProviderConfig = { kind: string };

/** A kind of providers of messages: what its configuration means, and the words of its refusals. */
export type MessageProviderKind<C extends ProviderConfig> = {
  /** In events, as the type of the aggregate, and as who owns the secrets. */
  name: "smtp" | "sms";
  levels: readonly ProviderLevel[];
  /** How those of the kind are searched: filters and sorts have one shape in the schemas of all kinds, `state` is one of them. */
  searched: { filter: DescMessage; sort: DescEnum };
  /** The secret that a caller brings, as its field and its event are called. */
  secret: "password" | "token";
  /** Whether a configuration uses a secret that a caller brings. */
  usesSecret(config: C): boolean;
  /** The field by which the secret would go elsewhere than before, or less protected. */
  moves(before: C, after: C): string | undefined;
};

type AnyKind = MessageProviderKind<never>;
type Named = Pick<AnyKind, "name">;

/** The reason of a refusal: `<NAME>_PROVIDER_<what>`. */
export const reasonOf = ({ name }: Named, what: string): string =>
  `${name.toUpperCase()}_PROVIDER_${what}`;

export const providerNotFound = (kind: Named): DomainError =>
  notFound(reasonOf(kind, "NOT_FOUND"), "the provider does not exist");

/** A mail server stays a mail server: what belongs to another kind of configuration changes nothing here. */
export const providerFixed = (kind: Named, field: string): DomainError =>
  failedPrecondition(
    reasonOf(kind, "KIND_FIXED"),
    `the provider is of a kind that has no ${field}: create another provider`,
    { metadata: { field } },
  );

export const secretRequired = (
  { name, secret }: Pick<AnyKind, "name" | "secret">,
  field: string,
): DomainError =>
  failedPrecondition(
    reasonOf({ name }, `${secret.toUpperCase()}_REQUIRED`),
    `another ${field} needs ${name}_provider.${secret} as well: what is stored must not go elsewhere`,
    { metadata: { field: `${name}_provider.${field}`, secret: `${name}_provider.${secret}` } },
  );
