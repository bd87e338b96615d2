import type { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { instanceOwner, writeContext } from "../../../authz/context.ts";
import { cachedResponse } from "../../../authz/response-cache.ts";
import type { Handlers } from "../../../authz/service.ts";
import type { Deps } from "../../../projection/module.ts";
import { listing } from "../../object/queries.ts";
import { decideOn } from "../../../eventstore/transaction.ts";
import { answering } from "../../object/plain.ts";
import { newSigningKey } from "../../object/new-secret.ts";
import { removeTarget } from "../deletions.ts";
import { toChanges, toConfig, toGetTarget, urlOf } from "./convert.ts";
import { type TargetRow, targetQueries } from "./queries.ts";
import { signingKeyRef } from "./signing-key.ts";
import { patchTarget, targets } from "./target.ts";

type TargetMethods =
  | "createTarget"
  | "patchTarget"
  | "deleteTarget"
  | "getTarget"
  | "searchTargets";

export function targetHandlers(deps: Deps): Pick<Handlers<typeof ActionService>, TargetMethods> {
  const queries = targetQueries(deps);
  const responseOf = cachedResponse((row: TargetRow) => ({
    target: toGetTarget(row),
  }));
  const { secrets, newId, checkUrl } = deps;
  const answer = answering(deps);
  const requireAllowed = (place: ReturnType<typeof urlOf>) => {
    if (place !== undefined) checkUrl(place.url, place.field);
  };

  return {
    async createTarget({ target: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation lets no request without target pass");
      requireAllowed(urlOf(wanted.targetType));
      return answer(writeContext(scope), async (tx) => {
        const loaded = tx.begin(targets.aggregate, newId());
        const added = targets.add(loaded.state, toConfig(wanted));
        tx.record(targets.aggregate, loaded, added, instanceOwner(scope));
        const ref = signingKeyRef(scope.instanceId, loaded.id);
        return { written: tx.written(loaded), ...(await newSigningKey(tx, secrets, ref)) };
      });
    },

    async patchTarget({ id, target: patch }, scope) {
      if (patch === undefined) throw new Error("validation lets no request without target pass");
      requireAllowed(urlOf(patch.targetType));
      const { rotateSigningKey } = patch;
      return answer(writeContext(scope), async (tx) => {
        const changed = await decideOn(tx, targets.aggregate, id, (state) =>
          patchTarget(state, toChanges(patch), rotateSigningKey),
        );
        const written = tx.written(changed);
        if (!rotateSigningKey) return { written };
        const ref = signingKeyRef(scope.instanceId, id);
        return { written, ...(await newSigningKey(tx, secrets, ref)) };
      });
    },

    deleteTarget: ({ id }, scope) => removeTarget(deps, writeContext(scope), id),

    async getTarget({ id }, { instanceId }) {
      return responseOf(await queries.get(instanceId, id));
    },

    searchTargets: listing(queries.search, toGetTarget),
  };
}
