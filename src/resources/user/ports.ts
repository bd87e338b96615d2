import type { JsonObject } from "@bufbuild/protobuf";
import type { NoteUse, SessionMakers, TokensInName } from "../../authz/ports.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import type { IntentPorts } from "../idp/index.ts";

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

/** What users ask of the service, beside what every slice may use. */
export type UserPorts = IntentPorts & {
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
