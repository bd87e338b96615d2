import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { addCaller, startTestApp, type TestApp, type TestOptions } from "./app.ts";
import { type CallOptions, connectPeer, type Peer, type RestAnswer } from "./protocols.ts";
import { removalsEnd } from "./removals.ts";

const base = "/resources/v3alpha";

type Call = (path: string, body?: JsonValue, options?: CallOptions) => Promise<RestAnswer>;
type BareCall = (path: string, options?: CallOptions) => Promise<RestAnswer>;

/** A running service and a client of its resource APIs: over REST, and as the IAM_OWNER unless told otherwise. */
export type ResourcePeer = AsyncDisposable & {
  app: TestApp;
  peer: Peer;
  get: BareCall;
  remove: BareCall;
  post: Call;
  put: Call;
  patch: Call;
  /** Creates an organization, and gives its id. */
  addOrganization(more?: JsonObject): Promise<string>;
  /** A machine user of an organization with a token, who holds these roles there. */
  addMember(organizationId: string, roles: string[]): Promise<{ userId: string; token: string }>;
  /** How many events the instance has, once jobs have removed what deleted objects left behind. */
  eventCount(): Promise<number>;
};

let names = 0;
/** A name that no other test uses. */
export const uniqueName = (kind = "name") => `${kind} ${names++}`;

/** The JSON of a success; its members are for the test to know. */
export function bodyOf({ status, json, refusal }: RestAnswer, expected = 200) {
  assert.equal(status, expected, refusal?.message);
  return Object(json);
}

export async function startPeer(options: TestOptions = {}): Promise<ResourcePeer> {
  const app = await startTestApp(options);
  const peer = connectPeer(app.port);
  const { token } = app;
  const asOwner =
    (method: string): Call =>
    (path, body, more = {}) =>
      peer.rest(method, `${base}${path}`, body, { token, ...more });
  const bare =
    (method: string): BareCall =>
    (path, more) =>
      asOwner(method)(path, undefined, more);
  const post = asOwner("POST");
  return {
    app,
    peer,
    get: bare("GET"),
    remove: bare("DELETE"),
    post,
    put: asOwner("PUT"),
    patch: asOwner("PATCH"),
    async addOrganization(more = {}) {
      const answer = await post("/organizations", { name: uniqueName("organization"), ...more });
      return String(bodyOf(answer, 201).details.id);
    },
    async addMember(organizationId, roles) {
      const caller = await addCaller(app, [], organizationId);
      const membership = { ctx: { org_id: organizationId }, user_id: caller.userId, roles };
      if (roles.length > 0) bodyOf(await post("/memberships", membership), 201);
      return caller;
    },
    async eventCount() {
      await removalsEnd(app.kernel.db);
      const found = bodyOf(await post("/organizations/_search?query.limit=1"));
      return Number(found.details.processed_sequence);
    },
    async [Symbol.asyncDispose]() {
      peer[Symbol.dispose]();
      await app[Symbol.asyncDispose]();
    },
  };
}
