import type { JsonObject } from "@bufbuild/protobuf";
import type { LoggedEvent } from "../../../src/eventstore/eventstore.ts";
import type { CallOptions } from "../../support/protocols.ts";
import { bodyOf } from "../../support/peer.ts";
import { goodPassword, startUserPeer, type UserPeer } from "../user/user-peer.ts";

export type SessionPeer = UserPeer & {
  /** A person with `goodPassword`. */
  addLogin(more?: JsonObject): Promise<string>;
  loginNameOf(userId: string): Promise<string>;
  /** Creates a session, as the owner of the instance unless told otherwise. */
  open(body: JsonObject, options?: CallOptions): Promise<Opened>;
  /** A session of a user whose password was checked. */
  logIn(userId: string, more?: JsonObject): Promise<Opened>;
  show(id: string, options?: CallOptions): Promise<Shown>;
  sessionEvents(id: string): Promise<LoggedEvent[]>;
};

type Opened = { id: string; token: string; challenges: Shown };
// oxlint-disable-next-line no-explicit-any -- what an answer holds is for each test to know.
type Shown = any;

export async function startSessionPeer(): Promise<SessionPeer> {
  const peer = await startUserPeer();
  const { post, get, addPerson, deps, at } = peer;
  const open: SessionPeer["open"] = async (body, options) => {
    const made = bodyOf(await post("/sessions", body, options), 201);
    return { id: made.details.id, token: made.session_token, challenges: made.challenges };
  };
  return {
    ...peer,
    addLogin: (more = {}) =>
      addPerson({ authenticators: { password: { password: goodPassword } }, ...more }),
    async loginNameOf(userId) {
      return bodyOf(await get(`/users/${userId}`)).user.user.login_names[0];
    },
    open,
    logIn: (userId, more = {}) =>
      open({
        checks: { user: { user_id: userId }, password: { password: goodPassword } },
        ...more,
      }),
    async show(id, options) {
      return bodyOf(await get(`/sessions/${id}`, options)).session;
    },
    sessionEvents: (id) =>
      deps.events.read({ instanceId: at.instanceId, aggregate: { type: "session", id } }),
  };
}
