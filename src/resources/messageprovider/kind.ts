import type { DescEnum } from "@bufbuild/protobuf";
import type { SMSProviderSearchFilterSchema } from "#gen/idsvc/resources/sms/v3alpha/query_pb.ts";
import type { SMTPProviderSearchFilterSchema } from "#gen/idsvc/resources/smtp/v3alpha/query_pb.ts";
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
  /** How those of the kind are searched: filters and sorts have one shape in the schemas of all kinds. */
  searched: {
    filter: typeof SMTPProviderSearchFilterSchema | typeof SMSProviderSearchFilterSchema;
    sort: DescEnum;
  };
  /** The secret that a caller brings, as its field and its event are called. */
  secret: "password" | "token";
  /** Whether a configuration uses a secret that a caller brings. */
  usesSecret(config: C): boolean;
  /** The field by which the secret would go elsewhere than before, or less protected. */
  moves(before: C, after: C): string | undefined;
  refusals: {
    notFound: string;
    active: string;
    inactive: string;
    secretRequired: string;
    fixed: string;
  };
};

type AnyKind = MessageProviderKind<never>;

export const providerNotFound = ({ refusals }: Pick<AnyKind, "refusals">): DomainError =>
  notFound(refusals.notFound, "the provider does not exist");

/** A mail server stays a mail server: what belongs to another kind of configuration changes nothing here. */
export const providerFixed = (
  { refusals }: Pick<AnyKind, "refusals">,
  field: string,
): DomainError =>
  failedPrecondition(
    refusals.fixed,
    `the provider is of a kind that has no ${field}: create another provider`,
    { metadata: { field } },
  );

export const secretRequired = (
  { name, refusals, secret }: Pick<AnyKind, "name" | "refusals" | "secret">,
  field: string,
): DomainError =>
  failedPrecondition(
    refusals.secretRequired,
    `another ${field} needs ${name}_provider.${secret} as well: what is stored must not go elsewhere`,
    { metadata: { field: `${name}_provider.${field}`, secret: `${name}_provider.${secret}` } },
  );
