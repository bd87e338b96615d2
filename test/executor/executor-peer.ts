import type { JsonObject } from "@bufbuild/protobuf";
import { setTimeout as delay } from "node:timers/promises";
import type { TestOptions } from "../support/app.ts";
import { bodyOf, type ResourcePeer, startPeer, uniqueName } from "../support/peer.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

type AddTarget = (more?: JsonObject, path?: string) => Promise<{ id: string; key: string }>;

/** A running service, its client, and a target on loopback. */
export type ExecutorPeer = ResourcePeer & {
  receiver: Receiver;
  /** A webhook at a path of the receiver, or what is said beside or instead. */
  webhook: AddTarget;
  /** A target whose answers are used. */
  asker: AddTarget;
  /** Sets an execution, and gives its id. */
  set(
    condition: JsonObject,
    targets: readonly string[],
    includes?: readonly string[],
  ): Promise<string>;
  /** Deletes all executions. */
  clear(): Promise<void>;
};

export async function startExecutorPeer(options: TestOptions = {}): Promise<ExecutorPeer> {
  const peer = await startPeer(options);
  const receiver = await startReceiver();
  const add =
    (kind: string): AddTarget =>
    async (more = {}, path = "/hook") => {
      const target = { name: uniqueName("target"), [kind]: { url: receiver.url(path) }, ...more };
      const { details, signing_key } = bodyOf(await peer.post("/targets", target), 201);
      return { id: String(details.id), key: String(signing_key) };
    };
  return Object.assign(peer, {
    receiver,
    webhook: add("rest_webhook"),
    asker: add("rest_request_response"),
    async set(condition: JsonObject, targets: readonly string[], includes: readonly string[] = []) {
      const body = { condition, targets: [...targets], includes: [...includes] };
      const answer = await peer.post("/executions", body);
      return String(bodyOf(answer, answer.status === 200 ? 200 : 201).details.id);
    },
    async clear() {
      for (;;) {
        const { result } = bodyOf(await peer.post("/executions/_search", []));
        if (result.length === 0) return;
        for (const { details } of result) bodyOf(await peer.remove(`/executions/${details.id}`));
      }
    },
    [Symbol.asyncDispose]: disposeOf(peer, receiver),
  });
}

function disposeOf(peer: ResourcePeer, receiver: Receiver) {
  const disposePeer = peer[Symbol.asyncDispose].bind(peer);
  return async () => {
    await disposePeer();
    await receiver[Symbol.asyncDispose]();
  };
}

/** Waits until something holds, and tells what it was. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  patienceMs = 60_000,
): Promise<T> {
  const end = Date.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (Date.now() > end) throw new Error(`not within ${patienceMs} ms: ${what}`);
    await delay(20);
  }
}
