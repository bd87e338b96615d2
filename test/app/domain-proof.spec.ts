// Run: shared, store
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDomainProof } from "../../src/app/domain-proof.ts";
import type { EgressClient, HttpCall } from "../../src/egress/client.ts";
import { EgressError } from "../../src/egress/error.ts";

const url = "https://example.com/.well-known/idsvc-challenge/t0ken.txt";
const challenge = { token: "t0ken", url };

/** The proof as it comes out when the file is answered so, and the calls that were made. */
async function proofOf(answer: { status: number; body: string } | EgressError) {
  const calls: HttpCall[] = [];
  const outside: EgressClient = {
    async call(call) {
      calls.push(call);
      if (answer instanceof EgressError) throw answer;
      return { status: answer.status, headers: {}, body: Buffer.from(answer.body) };
    },
    connect: () => Promise.reject(new Error("nobody connects")),
    texts: () => Promise.reject(new Error("nobody asks for records")),
  };
  return { proof: await createDomainProof(outside)(challenge, undefined), calls };
}

describe("proving a domain by a file", () => {
  it("asks for the file over HTTPS, once, for little and not for long", async () => {
    const { proof, calls } = await proofOf({ status: 200, body: "t0ken\n" });
    assert.equal(proof, "proven");
    assert.deepEqual(
      calls.map(({ method, url: asked, maxBytes }) => [method, asked, maxBytes]),
      [["GET", url, 1024]],
    );
    assert.ok((calls[0]?.timeoutMs ?? Number.POSITIVE_INFINITY) <= 10_000);
  });

  const absent: [string, { status: number; body: string }][] = [
    ["another token", { status: 200, body: "t0ken2" }],
    ["a page that holds the token among others", { status: 200, body: "<p>t0ken</p>" }],
    ["nothing", { status: 200, body: "" }],
    ["the token with a status that is no success", { status: 404, body: "t0ken" }],
    ["a redirect", { status: 302, body: "t0ken" }],
  ];
  for (const [what, answer] of absent) {
    it(`is not proven by ${what}`, async () => {
      assert.equal((await proofOf(answer)).proof, "absent");
    });
  }

  it("says apart what could not be read", async () => {
    const { proof } = await proofOf(new EgressError("denied", "example.com", "private"));
    assert.equal(proof, "unreachable");
  });
});
