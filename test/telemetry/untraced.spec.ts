// Run: alone
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { after, before, describe, it } from "node:test";
import { currentSpan } from "../../src/telemetry/tracing.ts";
import { type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";

let peer: OidcPeer;
const lines: string[] = [];

before(async () => {
  peer = await startOidc({ log: (line) => void lines.push(line) });
});
after(() => peer[Symbol.asyncDispose]());

/** How often work asks which span it belongs to, or begins one. */
async function spansAskedFor(work: () => Promise<unknown>): Promise<number> {
  const { getStore, run } = AsyncLocalStorage.prototype;
  const used: unknown[] = [];
  const noted = (method: typeof getStore | typeof run) =>
    function (this: AsyncLocalStorage<unknown>, ...given: unknown[]): unknown {
      used.push(this);
      return Reflect.apply(method, this, given);
    };
  Object.assign(AsyncLocalStorage.prototype, { getStore: noted(getStore), run: noted(run) });
  try {
    currentSpan();
    const [running] = used.splice(0);
    await work();
    return used.filter((each) => each === running).length;
  } finally {
    Object.assign(AsyncLocalStorage.prototype, { getStore, run });
  }
}

describe("a service whose environment names no collector", () => {
  it("does nothing for traces in calls that read and write, in requests of tokens and in their log lines", async () => {
    const target = { name: uniqueName("target"), rest_webhook: { url: "https://hook.test/" } };
    const client = await peer.addClient();
    const person = await peer.addPerson();
    const told = lines.length;
    const asked = await spansAskedFor(async () => {
      const { id } = bodyOf(await peer.post("/targets", target), 201).details;
      bodyOf(await peer.get(`/targets/${id}`));
      const { access_token } = await peer.tokensFor(client, person);
      assert.equal((await peer.introspect(access_token, client)).active, true);
    });
    assert.ok(lines.length > told, "the calls are told");
    assert.equal(asked, 0);
  });
});
