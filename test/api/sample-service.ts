import { startTestApp } from "../support/app.ts";
import { connectPeer } from "../support/protocols.ts";
import { systemCaller } from "../support/system-caller.ts";
import { condition, makeWorld } from "./samples.ts";

let isStarted = false;

/**
 * A running service with the world that the samples of all methods are made in, and the token of a system caller; one in a
 * process, as samples keep what they have made in it.
 */
export async function startSamples() {
  if (isStarted) throw new Error("one spec of a process has the samples: all others are alone");
  isStarted = true;
  const operator = systemCaller();
  const texts = new Map<string, string[]>();
  const app = await startTestApp({
    env: operator.env,
    resolver: { addresses: async () => [], texts: async (name) => texts.get(name) ?? [] },
  });
  const system = await operator.tokenFor(app.made.issuer);
  const peer = connectPeer(app.port);
  const world = await makeWorld(peer, { ...app, system, texts }, condition);
  return {
    app,
    system,
    peer,
    world,
    async [Symbol.asyncDispose]() {
      peer[Symbol.dispose]();
      await app[Symbol.asyncDispose]();
    },
  };
}
