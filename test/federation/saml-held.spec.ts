// Run: shared
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { leaving, type ProviderWorld, startProviderWorld } from "../login/provider-world.ts";
import { startSamlProvider } from "../support/saml-provider.ts";
import { errorOf, type UserAgent } from "../support/user-agent.ts";

// The browser, the provider and this service are one thread here, and 37 seconds were the service's.
const mostMs = 500;
let world: ProviderWorld;
const saml = startSamlProvider();
const base64 = (text: string) => Buffer.from(text).toString("base64");
const elements = (count: number) => `<r>${"<a/>".repeat(count)}</r>`;
const add = (metadata: string) => world.addIdp("saml", { metadata_xml: base64(metadata) });

before(async () => {
  world = await startProviderWorld();
});
after(() => world[Symbol.asyncDispose]());

async function goTo(idp: string): Promise<UserAgent> {
  const agent = await world.begin();
  const flow = agent.last.url.searchParams.get("flow") ?? "";
  await agent.open(`/ui/login/idp?${new URLSearchParams({ flow, idp })}`);
  return agent;
}

/** What the main thread of this process has of the processor meanwhile, in milliseconds. */
async function heldMs(work: () => Promise<unknown>): Promise<number> {
  const used = () =>
    Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ", 1)[0]) / 1e6;
  const began = used();
  await work();
  return used() - began;
}

describe("D81: documents of SAML that are much work (J17)", () => {
  for (const [what, answer, expected] of [
    ["32,000 elements", elements(32_000), /^PROVIDER_FAILED$/],
    ["as many elements as may be", elements(1_999), /problem=PROVIDER_DENIED/],
    [
      "as many within each other as may be",
      "<r>".repeat(99) + "</r>".repeat(99),
      /problem=PROVIDER_DENIED/,
    ],
  ] as const) {
    it(`an answer of ${what} holds nobody up`, async () => {
      const idp = await add(saml.metadata);
      const agent = await goTo(idp);
      const metadata = await (await fetch(`${world.peer.issuer}/idps/${idp}/saml/metadata`)).text();
      const { relayState } = await saml.read(metadata, leaving(agent.last));
      const fields = { SAMLResponse: base64(answer), RelayState: relayState };
      const took = await heldMs(async () => {
        const path = `/idps/${idp}/saml/acs`;
        await agent.open(path, { method: "POST", body: new URLSearchParams(fields) });
        if (errorOf(agent.last) === undefined) await agent.submit({});
      });
      assert.match(errorOf(agent.last) ?? agent.last.url.search, expected);
      assert.equal(agent.last.left, undefined);
      assert.ok(took < mostMs, `${took} ms`);
    });
  }

  for (const count of [100_000, 1_999]) {
    it(`metadata of ${count} elements hold nobody up`, async () => {
      const idp = await add(elements(count));
      let agent: UserAgent | undefined;
      const took = await heldMs(async () => (agent = await goTo(idp)));
      assert.equal(agent && errorOf(agent.last), "PROVIDER_FAILED");
      assert.ok(took < mostMs, `${took} ms`);
    });
  }
});
