import type { JsonObject } from "@bufbuild/protobuf";
import type { Permissions } from "../../authz/permissions.ts";
import type { EventStore } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { IdpEvent, IdpFacts, IdpOptions } from "./events.ts";
import { idp } from "./idp.ts";

type At = { instanceId: string; idpId: string };

/** What becomes of the links of users who may do something when somebody else answers for a provider (J1a). */
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

/** The options by which the word of a provider comes to count for more. */
const counting = ["isSecondFactor", "isEmailTrusted", "isPhoneTrusted"] as const;

/** What says who answers for a provider, and for how much. */
export type Answering = {
  config: JsonObject;
  options: Pick<IdpOptions, (typeof counting)[number]>;
};

/**
 * Whether somebody else may answer for the provider: its endpoints, keys, servers or mapping are others, or its word comes
 * to count for more.
 */
export const isAnsweredAnew = (before: Answering, after: Answering): boolean =>
  counting.some((name) => after.options[name] === true && before.options[name] !== true) ||
  [...new Set([...Object.keys(before.config), ...Object.keys(after.config)])].some(
    (name) =>
      !same.has(name) && JSON.stringify(before.config[name]) !== JSON.stringify(after.config[name]),
  );

/** Who last said who answers for a provider: the editor of its configuration and options. Undefined once it is gone. */
export async function whoAnswersFor(
  { read }: Pick<EventStore, "read">,
  { instanceId, idpId }: At,
): Promise<string | undefined> {
  let known: Answering = { config: {}, options: {} };
  let editorId: string | undefined;
  for (const event of await read({ instanceId, aggregate: { type: idp.type, id: idpId } })) {
    // The stream of a provider holds only events of providers.
    const { payload } = event as unknown as IdpEvent;
    const { config = known.config, options = known.options } = payload as Partial<IdpFacts>;
    const now = { config, options };
    if (editorId === undefined || isAnsweredAnew(known, now)) editorId = event.editorId;
    known = now;
  }
  return editorId;
}
