import type { OwnerRef } from "../../eventstore/event.ts";
import type { StatePolicies } from "../object/reuse/policies.ts";
import type { MessageProviderKind, ProviderConfig } from "./kind.ts";
import type { ProviderTable } from "./projection.ts";

/** Where providers of a kind are kept. Instances have policies only on what they can inherit. */
export type ProviderStorage<C extends ProviderConfig> = {
  kind: MessageProviderKind<C>;
  providers: ProviderTable;
  policies: StatePolicies;
};

/** The log of the system context: what belongs to the system stands in it, its secrets too. */
export const systemLog = "system";
const system: OwnerRef = { type: "system", id: "" };

/** Whether instances inherit providers of the kind (decisions E). */
export const isReusable = ({ levels }: Pick<MessageProviderKind<never>, "levels">): boolean =>
  levels.includes("system");

export const ownerOf = ({ instanceId: id }: { instanceId: string }): OwnerRef =>
  id === systemLog ? system : { type: "instance", id };

/** The log that what happens in a context is written to. */
export const logOf = (context: OwnerRef): string =>
  context.type === "system" ? systemLog : context.id;

/** The logs of the providers that a context has or inherits. */
export function logsOf(
  kind: Pick<MessageProviderKind<never>, "levels">,
  context: OwnerRef,
): string[] {
  const log = logOf(context);
  return log !== systemLog && isReusable(kind) ? [log, systemLog] : [log];
}
