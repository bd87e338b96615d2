import type { ServiceDeps } from "../../../src/app/deps.ts";
import type { JsonObject } from "@bufbuild/protobuf";
import type { LoggedEvent } from "../../../src/eventstore/eventstore.ts";
import type { WriteContext } from "../../../src/eventstore/transaction.ts";
import { type UserChecks, userChecks } from "../../../src/resources/user/index.ts";
import { depsTold } from "../../support/deps.ts";
import { sessionTokenFor } from "../../support/session-token.ts";
import { bodyOf, type ResourcePeer, startPeer, uniqueName } from "../../support/peer.ts";

/** A password that no policy of these tests refuses. */
export const goodPassword = "correct horse battery staple";

export type UserPeer = ResourcePeer & {
  /** What sessions call; there is no RPC for it. */
  checks: UserChecks;
  deps: ServiceDeps;
  at: WriteContext;
  /** Moves the clock of the service. */
  pass(ms: number): void;
  /** Creates a person, and gives the id. */
  addPerson(more?: JsonObject): Promise<string>;
  addMachine(more?: JsonObject): Promise<string>;
  /** A token by which a person calls for themselves, who has just proven who they are. */
  tokenOf(userId: string): Promise<string>;
  authenticatorsOf(userId: string): Promise<JsonObject>;
  /** The events of a user, checks included, in the order of the log. */
  eventsOf(userId: string): Promise<LoggedEvent[]>;
};

export async function startUserPeer(): Promise<UserPeer> {
  let shift = 0;
  const told = depsTold();
  const now = () => new Date(Date.now() + shift);
  const peer = await startPeer({ now, moreModules: [told.module] });
  const deps = told.deps();
  const { instance_id: instanceId } = peer.app.made;
  const at = {
    instanceId,
    editorId: "test",
    service: "test",
    clientId: "",
    requestId: "test",
  };
  const add = async (body: JsonObject) => {
    const made = await peer.post("/users", { username: uniqueName("user"), ...body });
    return String(bodyOf(made, 201).details.id);
  };
  const { events } = deps;
  return {
    ...peer,
    checks: userChecks(deps),
    deps,
    at,
    pass(ms) {
      shift += ms;
    },
    addPerson: (more = {}) => add({ data: { given_name: "Ada" }, ...more }),
    addMachine: (more = {}) => add({ schema_id: "machine", data: { name: "Robot" }, ...more }),
    tokenOf: (userId) => sessionTokenFor(peer.app, userId),
    async authenticatorsOf(userId) {
      return bodyOf(await peer.get(`/users/${userId}`)).user.user.authenticators;
    },
    async eventsOf(id) {
      const of = (type: string) => events.read({ instanceId, aggregate: { type, id } });
      const all = [...(await of("user")), ...(await of("user_check"))];
      return all.toSorted((a, b) => Number(a.sequence - b.sequence));
    },
  };
}

/** Makes many attempts at the same time. */
export const together = <T>(count: number, attempt: (turn: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, turn) => attempt(turn)));
