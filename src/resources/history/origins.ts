import type { MessageInitShape } from "@bufbuild/protobuf";
import type { OriginSchema } from "#gen/idsvc/resources/event/v3alpha/event_pb.ts";
import type { Scope } from "../../authz/context.ts";
import { eventReading, sessionReading } from "../../authz/roles.ts";
import type { LoggedEvent } from "../../eventstore/eventstore.ts";
import type { Origin } from "../../eventstore/presence.ts";
import type { Deps } from "../../projection/module.ts";

type Shown = MessageInitShape<typeof OriginSchema>;
type Caller = Pick<Scope, "caller" | "instanceId" | "permissions">;

/** The organizations that users belong to, by the ids of those who are there. */
export type HomesOf = (
  instanceId: string,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, string>>;

/** Tells where an event was done from, as much as its reader may see. */
export type FormatOrigin = (event: LoggedEvent) => Shown | undefined;

const permissions = [eventReading, sessionReading];

/**
 * What is told of where things were done from (L4): address and browser to whoever was there, and to whoever may
 * read the log or sessions where that person belongs. So the address of an administrator is not shown to the user whose
 * history it stands in.
 */
export const originShower =
  (homesOf: HomesOf) =>
  async (
    reader: Caller,
    log: string,
    origins: Iterable<Origin>,
  ): Promise<(origin: Origin) => Shown> => {
    const isOpen = isOpenTo(reader);
    const people = new Set([...origins].flatMap(({ personId }) => personId ?? []));
    const homes = await homesOf(
      log,
      [...people].filter((id) => !isOpen(id)),
    );
    return (origin) => {
      const { personId } = origin;
      const home = personId === undefined ? undefined : homes.get(personId);
      return shownOrigin(origin, isOpen(personId, home));
    };
  };

/** The same for events. */
export function originFormatter(
  { events, now }: Pick<Deps, "events" | "now">,
  homesOf: HomesOf,
): (reader: Caller, log: string, page: readonly LoggedEvent[]) => Promise<FormatOrigin> {
  const show = originShower(homesOf);
  return async (reader, log, page) => {
    const ids = [...new Set(page.flatMap(({ originId }) => originId ?? []))];
    const origins = await events.origins.read(log, ids, now());
    const showOne = await show(reader, log, origins.values());
    return ({ originId }) => {
      const origin = originId === undefined ? undefined : origins.get(originId);
      return origin && showOne(origin);
    };
  };
}

/** Whether a reader may see where somebody was, by what is known of that person. */
export function isOpenTo({ caller, permissions: granted }: Caller) {
  const isOfSystem = caller.kind === "system";
  const everywhere = permissions.some((each) => granted.holds(each, { type: "instance" }));
  return (personId: string | undefined, organizationId?: string): boolean => {
    // Nobody in an instance is over those who run the service.
    if (isOfSystem || (everywhere && personId?.startsWith("system:") !== true)) return true;
    if (caller.kind === "user" && caller.userId === personId) return true;
    if (organizationId === undefined) return false;
    const home = { type: "organization", id: organizationId } as const;
    return permissions.some((each) => granted.holds(each, home));
  };
}

/** What is shown of where something was done from. */
export function shownOrigin(
  { seen, sessionId, flowId, familyId, actorIds }: Origin,
  isOpen: boolean,
): Shown {
  return {
    ...(isOpen ? seen : undefined),
    sessionId: sessionId ?? "",
    flowId: flowId ?? "",
    tokenFamilyId: familyId ?? "",
    actorIds: [...(actorIds ?? [])],
  };
}
