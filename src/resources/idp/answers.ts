import type { JsonObject } from "@bufbuild/protobuf";
import type { Permissions } from "../../authz/permissions.ts";
import type { EventStore } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { IdpEvent } from "./events.ts";
import { idp } from "./idp.ts";

type At = { instanceId: string; idpId: string };

/** What becomes of the links of users who may do something when somebody else answers for a provider (authority J1a). */
export type LinkHolders = {
  /** Suspends the links of those whom the permissions do not cover; tells how many. */
  suspend(tx: Transaction, at: At, permissions: Permissions): Promise<number>;
  /** Confirms the suspended links of those whom they cover. */
  confirm(
    tx: Transaction,
    at: At,
    permissions: Permissions,
  ): Promise<{ confirmed: number; suspended: number }>;
};

/** What a configuration may change without anybody else answering for the provider; secrets are not in it. */
const same: ReadonlySet<string> = new Set(["client_id", "scopes", "timeout"]);

/** Whether somebody else may answer for the provider: its endpoints, keys, servers or mapping are others. */
export const isAnsweredAnew = (before: JsonObject, after: JsonObject): boolean =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].some(
    (name) => !same.has(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );

/** Who last said who answers for a provider: the editor of its configuration. Undefined once it is gone. */
export async function whoAnswersFor(
  { read }: Pick<EventStore, "read">,
  { instanceId, idpId }: At,
): Promise<string | undefined> {
  let config: JsonObject = {};
  let editorId: string | undefined;
  for (const event of await read({ instanceId, aggregate: { type: idp.type, id: idpId } })) {
    // The stream of a provider holds only events of providers.
    const { payload } = event as unknown as IdpEvent;
    if (!("config" in payload) || payload.config === undefined) continue;
    if (editorId === undefined || isAnsweredAnew(config, payload.config)) editorId = event.editorId;
    config = payload.config;
  }
  return editorId;
}
