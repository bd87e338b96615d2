import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type MetadataFilter,
  MetadataFilterSchema,
  type MetadataSchema,
} from "#gen/idsvc/resources/user/v3alpha/metadata_pb.ts";
import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { writeContext } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { rowsWhere } from "../../projection/rows.ts";
import { search } from "../../projection/search.ts";
import { eq } from "../../storage/drizzle.ts";
import type { Row } from "../../storage/table.ts";
import { toDetails, toListDetails, toOrganizationOwnedDetails } from "../object/details.ts";
import { hasName } from "../object/filters.ts";
import { listName, looksAtEach, toPage } from "../object/list.ts";
import { changing } from "../object/plain.ts";
import {
  metadata,
  metadataId,
  metadataNotFound,
  removeMetadata,
  setMetadata,
} from "./metadata-events.ts";
import { userMetadata } from "./metadata-projection.ts";
import { requireUser } from "./user.ts";

export function metadataHandlers(deps: Deps) {
  const { db, events, limits, secrets } = deps;
  const t = db.table(userMetadata);
  const change = changing(deps, metadata);
  const condition = ({ filter }: MetadataFilter) =>
    filter.case === "key"
      ? hasName(db, { exact: t.id, folded: t.keyFolded }, filter.value)
      : undefined;

  return {
    async setUserMetadata({ id, key, metadata: wanted }, scope) {
      const value = Buffer.from(wanted?.value ?? []).toString("base64");
      const written = await events.transact(writeContext(scope), async (tx) => {
        const { organizationId } = await requireUser(tx, id);
        const loaded = await tx.load(metadata, metadataId(id, key));
        const owner = { type: "org" as const, id: organizationId };
        tx.record(metadata, loaded, setMetadata(loaded.state, { userId: id, key, value }), owner);
        return tx.written(loaded);
      });
      return { details: toDetails({ ...written(), id }) };
    },

    async deleteUserMetadata({ id, key }, scope) {
      const { details } = await change(scope, metadataId(id, key), (state) =>
        removeMetadata(state, { userId: id, key }),
      );
      return { details: { ...details, id } };
    },

    async getUserMetadata({ id, key }, { instanceId }) {
      const [row] = await rowsWhere(db, userMetadata, { instanceId, userId: id, id: key });
      if (row === undefined) throw metadataNotFound();
      return { metadata: toMetadata(row) };
    },

    async searchUserMetadata({ id, query, filters }, { instanceId }) {
      // Without a wish the keys go from A to Z.
      const page = { ...toPage(query), asc: query?.asc ?? true };
      const ofUser = eq(t.userId, id);
      const found = await search(db, userMetadata, {
        instanceId,
        filters: [ofUser, ...filters.map(condition)],
        looksAtEach: looksAtEach(filters),
        order: t.id,
        page,
        limits,
        cursors: { secrets, instanceId, list: listName(MetadataFilterSchema, filters, id) },
      });
      return { details: toListDetails(found), result: found.rows.map(toMetadata) };
    },
  } satisfies Partial<Handlers<typeof UserService>>;
}

const toMetadata = (row: Row<typeof userMetadata>): MessageInitShape<typeof MetadataSchema> => ({
  details: toOrganizationOwnedDetails({ ...row, id: row.userId }),
  key: row.id,
  value: Uint8Array.from(row.value),
});
