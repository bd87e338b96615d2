import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { onlySecret } from "../../authz/ports.ts";
import { writeContext } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import { newClientKeys } from "../../crypto/client-key.ts";
import type { Deps } from "../../projection/module.ts";
import { answering } from "../object/plain.ts";
import { toListDetails } from "../object/details.ts";
import { requireClientKey } from "../object/client-key.ts";
import { toExpiration } from "../object/expiration.ts";
import { lastUses } from "../object/credential-uses.ts";
import { toPage } from "../object/list.ts";

import { answeringChanges } from "./answering-changes.ts";
import { addKey, removeKey } from "./app.ts";
import type { App } from "./application.ts";
import { keyFile } from "./credentials.ts";
import { appQueries, type AppKeyRow } from "./queries.ts";
import { secretMaking } from "./secret-making.ts";

type KeyMethods = "addKey" | "removeKey" | "listKeys";

export function keyHandlers(deps: Deps): Pick<Handlers<typeof AppService>, KeyMethods> {
  const { db, events, newId, now } = deps;
  const queries = appQueries(deps);
  const answer = answering(deps);
  const changeAnswering = answeringChanges(db);

  return {
    async addKey({ id, key }, scope) {
      const expires = toExpiration(key?.expirationDate, now(), "key.expiration_date");
      const keyId = newId();
      const { publicKey, privateKey } = await keysFrom(key?.publicKey);
      const expirationDate = expires?.toISOString();
      const ends = expirationDate === undefined ? {} : { expirationDate };
      const add = (state: App | undefined) => addKey(state, { keyId, publicKey, ...ends });
      return answer(writeContext(scope), async (tx) => {
        const changed = await changeAnswering(tx, scope, id, add, (before) => ({
          isNew: true,
          staysBeside: (before?.keyIds.length ?? 0) > 0,
        }));
        const clientId = changed.state?.clientId ?? "";
        const file = { keyId, privateKey, appId: id, clientId, expirationDate };
        return {
          written: tx.written(changed),
          keyId,
          ...(privateKey !== undefined && { keyFile: keyFile({ ...file, privateKey }) }),
        };
      });
    },

    removeKey: ({ id, keyId }, scope) =>
      answer(writeContext(scope), async (tx) => {
        const remove = (state: App | undefined) => removeKey(state, keyId);
        const gone = () => ({ isNew: false, staysBeside: false });
        return { written: tx.written(await changeAnswering(tx, scope, id, remove, gone)) };
      }),

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
