import type { JsonObject } from "@bufbuild/protobuf";
import type { Awaitable } from "../../awaitable.ts";
import type { Budgets } from "../../authz/budgets.ts";
import type { NoteRefusal, NoteUse, SessionMakers, TokensInName } from "../../authz/ports.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { ExternalIdentity } from "../../federation/index.ts";
import type { Deps } from "../../projection/module.ts";

/** Data of a user as they stand by a schema. */
export type SchemaData = {
  schemaId: string;
  schemaType: string;
  schemaRevision: number;
  data: JsonObject;
};

/** Who writes or reads data: who manages the user, or the user. */
export type DataActor = "owner" | "self";

/** By what schemas data of users stand. The schema that is written by stands still until the unit commits. */
export type UserSchemas = {
  /**
   * Data of a new user.
   *
   * @throws NOT_FOUND USER_SCHEMA_NOT_FOUND, FAILED_PRECONDITION USER_SCHEMA_INACTIVE
   * @throws INVALID_ARGUMENT USER_DATA_INVALID, PERMISSION_DENIED USER_DATA_READ_ONLY
   */
  first(tx: Transaction, schemaId: string, data: JsonObject): Promise<SchemaData>;
  /** What a patch makes of data (RFC 7396). @throws as `first` */
  patched(
    tx: Transaction,
    schemaId: string,
    { before, patch }: { before: JsonObject; patch: JsonObject },
    as: DataActor,
  ): Promise<SchemaData>;
  /** What of the data the actor may read; nothing where the schema is not there. */
  readable(
    instanceId: string,
    { schemaId, data }: Pick<SchemaData, "schemaId" | "data">,
    as: DataActor,
  ): Promise<JsonObject>;
};

/** What proves that a login with a provider was the caller's: the token, or the flow that it belongs to. */
export type IntentProof = { id: string } & ({ token: string } | { flowId: string });

/** A login with a provider that succeeded, and who it was there. */
export type Said = { id: string; idpId: string; identity: ExternalIdentity };

/** A provider; a login with it may count as two factors. */
type Idp = { type: string; options: { isLinkingAllowed: boolean; isSecondFactor?: boolean } };

/** What users ask of identity providers, and of logins with them: what links stand on, and what proves who they are. */
export type IdpIntents = {
  /** Makes sure that an organization has a provider, and still has when the unit commits. @throws NOT_FOUND IDP_NOT_FOUND */
  hold(
    tx: Transaction,
    at: { instanceId: string; organizationId: string },
    idpId: string,
  ): Promise<void>;
  /** Who last said who answers for a provider (J1a); undefined once it is gone. */
  whoAnswersFor(at: { instanceId: string; idpId: string }): Promise<string | undefined>;
  /** Whether users of an organization may log in with a provider (E5). */
  isActive(instanceId: string, organizationId: string, idpId: string): Promise<boolean>;
  provider(instanceId: string, idpId: string): Awaitable<Idp | undefined>;
  /** A provider that is active. @throws NOT_FOUND IDP_UNKNOWN; FAILED_PRECONDITION IDP_INACTIVE */
  requireIdp(
    instanceId: string,
    organizationId: string | undefined,
    idpId: string,
  ): Promise<{ idp: Idp }>;
  /** What a provider said, for who can prove that the login was theirs; undefined once it is over or used. */
  said(instanceId: string, proof: IntentProof): Promise<Said | undefined>;
  /** Uses a login up, in the unit of what it is used for. @throws FAILED_PRECONDITION IDP_INTENT_SPENT */
  spend(tx: Transaction, instanceId: string, said: Said, userId: string): Promise<void>;
};

/** What users ask of the service, beside what every slice may use. */
export type UserPorts = {
  intents: IdpIntents;
  /** What one source may cost. */
  budgets: Budgets;
  /** Notes that somebody was refused. */
  noteRefusal: NoteRefusal;
  /** Whether a password is known from a breach; no, where that cannot be found out (L7). */
  isBreached: (password: string) => Promise<boolean>;
  /** Notes that a key, secret or token was used, once an hour. */
  noteUse: NoteUse;
  /** By whom the sessions of a user were made. */
  sessionMakers: SessionMakers;
  userSchemas: UserSchemas;
  /** Who acts by what was issued in the name of a user. */
  tokensInName: TokensInName;
};

export type UserDeps = Deps & UserPorts;
