import type { JsonObject } from "@bufbuild/protobuf";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import type { UserSchema } from "./built-in.ts";
import { patchedData, readableData, requireData } from "./data.ts";
import type { Actor } from "./permission.ts";
import { requireSchema, schemaReader } from "./reader.ts";

/** What users ask of the schemas that their data stand by. */
export function schemasOfUsers(db: Database) {
  const byId = schemaReader(db);
  return {
    async first(tx: Transaction, schemaId: string, data: JsonObject) {
      const schema = await requireSchema(tx, schemaId);
      requireData(schema, data, "owner");
      return by(schema, data);
    },
    async patched(
      tx: Transaction,
      schemaId: string,
      { before, patch }: { before: JsonObject; patch: JsonObject },
      as: Actor,
    ) {
      const schema = await requireSchema(tx, schemaId);
      return by(schema, patchedData(schema, before, patch, as));
    },
    async readable(
      instanceId: string,
      { schemaId, data }: { schemaId: string; data: JsonObject },
      as: Actor,
    ): Promise<JsonObject> {
      const schema = await byId(instanceId, schemaId);
      return schema === undefined ? {} : readableData(schema, data, as);
    },
  };
}

const by = ({ id, type, revision }: UserSchema, data: JsonObject) => ({
  schemaId: id,
  schemaType: type,
  schemaRevision: revision,
  data,
});
