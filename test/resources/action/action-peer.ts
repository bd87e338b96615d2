import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { startTestApp, type TestApp, type TestOptions } from "../../support/app.ts";
import {
  type CallOptions,
  connectPeer,
  type Peer,
  type RestAnswer,
} from "../../support/protocols.ts";

const base = "/resources/v3alpha";

/** A running service and a client of its action API: the IAM_OWNER, over REST. */
export type ActionPeer = AsyncDisposable & {
  app: TestApp;
  peer: Peer;
  get(path: string, options?: CallOptions): Promise<RestAnswer>;
  post(path: string, body?: JsonValue, options?: CallOptions): Promise<RestAnswer>;
  patch(path: string, body?: JsonValue, options?: CallOptions): Promise<RestAnswer>;
  remove(path: string, options?: CallOptions): Promise<RestAnswer>;
  /** Creates a webhook, with what is given beside or instead, and gives its id. */
  addTarget(more?: JsonObject): Promise<string>;
  /** Sets an execution, and gives its id. */
  setExecution(condition: JsonObject, calls: JsonObject): Promise<string>;
  /** How many events the instance has. */
  eventCount(): Promise<number>;
};

let names = 0;
export const uniqueName = () => `target ${names++}`;
export const url = "http://localhost:9999/hook";

/** The JSON of a success; its members are for the test to know. */
export function bodyOf({ status, json, refusal }: RestAnswer, expected = 200) {
  assert.equal(status, expected, refusal?.message);
  return Object(json);
}

export async function startActionPeer(options: TestOptions = {}): Promise<ActionPeer> {
  const app = await startTestApp(options);
  const peer = connectPeer(app.port);
  const { token } = app;
  const asOwner =
    (method: string) =>
    (path: string, body?: JsonValue, more: CallOptions = {}) =>
      peer.rest(method, `${base}${path}`, body, { token, ...more });
  const get = (path: string, more?: CallOptions) => asOwner("GET")(path, undefined, more);
  const remove = (path: string, more?: CallOptions) => asOwner("DELETE")(path, undefined, more);
  const post = asOwner("POST");
  return {
    app,
    peer,
    get,
    post,
    patch: asOwner("PATCH"),
    remove,
    async addTarget(more = {}) {
      const target = { name: uniqueName(), rest_webhook: { url }, ...more };
      return String(bodyOf(await post("/targets", target), 201).details.id);
    },
    async setExecution(condition, calls) {
      const answer = await post("/executions", { condition, ...calls });
      return String(bodyOf(answer, answer.status === 201 ? 201 : 200).details.id);
    },
    async eventCount() {
      const found = bodyOf(await post("/targets/_search?query.limit=1"));
      return Number(found.details.processed_sequence);
    },
    async [Symbol.asyncDispose]() {
      peer[Symbol.dispose]();
      await app[Symbol.asyncDispose]();
    },
  };
}
