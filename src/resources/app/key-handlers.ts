import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { onlySecret } from "../../authz/ports.ts";
import { writeContext } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import { newClientKeys } from "../../crypto/client-key.ts";
import type { Deps } from "../../projection/module.ts";
import { current } from "../../storage/read-cache.ts";
import { toDetails, toListDetails } from "../object/details.ts";
import { requireClientKey } from "../object/client-key.ts";
import { toExpiration } from "../object/expiration.ts";
import { lastUses } from "../object/credential-uses.ts";
import { toPage } from "../object/list.ts";

import { afterAnswersChanged, requireCoversApp } from "./api-access.ts";
import { addKey, removeKey } from "./app.ts";
import { app } from "./application.ts";
import { keyFile } from "./credentials.ts";
import { appQueries, type AppKeyRow } from "./queries.ts";
import { secretMaking } from "./secret-making.ts";
import { legacyAccessReader } from "./readers.ts";

type KeyMethods = "addKey" | "removeKey" | "listKeys";

export function keyHandlers(deps: Deps): Pick<Handlers<typeof AppService>, KeyMethods> {
  const { db, events, newId, now } = deps;
  const queries = appQueries(deps);
  const isLegacyApp = current(deps.db, legacyAccessReader(deps.db));

  return {
    async addKey({ id, key }, scope) {
      const expires = toExpiration(key?.expirationDate, now(), "key.expiration_date");
      const keyId = newId();
      const { publicKey, privateKey } = await keysFrom(key?.publicKey);
      const expirationDate = expires?.toISOString();
      const ends = expirationDate === undefined ? {} : { expirationDate };
      const [written, clientId] = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(app, id);
        requireCoversApp(loaded.state, scope);
        const staysBeside = (loaded.state?.keyIds.length ?? 0) > 0;
        tx.record(app, loaded, addKey(loaded.state, { keyId, publicKey, ...ends }));
        const isLegacy = await isLegacyApp(scope.instanceId, loaded.state?.clientId ?? "");
        const { permissions, caller } = scope;
        const by = { permissions, caller, isLegacy };
        tx.record(app, loaded, afterAnswersChanged(loaded.state, { isNew: true, staysBeside }, by));
        return [tx.written(loaded), loaded.state?.clientId ?? ""];
      });
      const file =
        privateKey === undefined
          ? {}
          : { keyFile: keyFile({ keyId, privateKey, appId: id, clientId, expirationDate }) };
      return { details: toDetails(written()), keyId, ...file };
    },

    async removeKey({ id, keyId }, scope) {
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(app, id);
        requireCoversApp(loaded.state, scope);
        tx.record(app, loaded, removeKey(loaded.state, keyId));
        const isLegacy = await isLegacyApp(scope.instanceId, loaded.state?.clientId ?? "");
        const { permissions, caller } = scope;
        const by = { permissions, caller, isLegacy };
        const gone = { isNew: false, staysBeside: false };
        tx.record(app, loaded, afterAnswersChanged(loaded.state, gone, by));
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },

    async listKeys({ id, query }, { instanceId }) {
      const found = await queries.keysOf(instanceId, id, toPage(query));
      const last = await lastUses(db, instanceId, [id]);
      const result = found.rows.map((row) =>
        toGetAppKey(row, last({ ownerId: id, kind: "key", id: row.id })),
      );
      const made = await secretMaking(events, instanceId, id);
      if (made === undefined) return { details: toListDetails(found), result };
      const { createdAt, creatorId } = made;
      const usedAt = last({ ownerId: id, ...onlySecret });
      const secret = { creationDate: timestampFromDate(createdAt), creatorId, ...usedOn(usedAt) };
      return { details: toListDetails(found), result, secret };
    },
  };
}

const keysFrom = async (pem: string | undefined) =>
  pem === undefined
    ? newClientKeys()
    : { publicKey: requireClientKey(pem, "key.public_key"), privateKey: undefined };

const usedOn = (date: Date | undefined) =>
  date === undefined ? {} : { lastUseDate: timestampFromDate(date) };

const toGetAppKey = (
  { id, publicKey, creatorId, creationDate, expirationDate }: AppKeyRow,
  usedAt: Date | undefined,
) => ({
  ...usedOn(usedAt),
  keyId: id,
  publicKey,
  creatorId,
  creationDate: timestampFromDate(creationDate),
  ...(expirationDate === null ? {} : { expirationDate: timestampFromDate(expirationDate) }),
});
