// Run: shared
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { accountPaths } from "../../src/account/paths.ts";
import { readPlaces } from "../../src/app/places.ts";
import { DomainError } from "../../src/errors.ts";
import { addPersonNamed, signedIn } from "../support/login.ts";
import { startOidc } from "../support/oidc.ts";

const folder = mkdtempSync(join(tmpdir(), "idsvc-places-"));
after(() => rmSync(folder, { recursive: true }));
function fileOf(text: string): string {
  const file = join(folder, "places.csv");
  writeFileSync(file, text);
  return file;
}

describe("a file of places", () => {
  it("names the place of the smallest network that holds an address, and guesses none", () => {
    const placeOf = readPlaces(
      fileOf(
        "# sites\n10.0.0.0/8, Our network\r\n\n10.1.2.0/24,Office, Bern\n10.1.2.3,Reception\n2001:db8::/32,Lab\n",
      ),
    );
    for (const [address, place] of [
      ["10.9.9.9", "Our network"],
      ["10.1.2.4", "Office, Bern"],
      ["10.1.2.3", "Reception"],
      ["2001:db8::7", "Lab"],
      ["192.0.2.1", undefined],
      ["unknown", undefined],
      ["", undefined],
    ] as const)
      assert.equal(placeOf(address), place, address);
  });

  it("names none where there is no file", () => {
    assert.equal(readPlaces(undefined)("10.1.2.3"), undefined);
  });

  const tooMany = Array.from({ length: 1_001 }, (_, at) => `10.0.${at >> 8}.${at & 255},x`);
  for (const [what, text, told] of [
    ["no network", "10.0.0.0/8,here\nhere,there\n", /line 2 has none$/],
    ["no place", "10.0.0.0/8,\n", /line 1 has none$/],
    ["a prefix that is none", "10.0.0.0/33,here\n", /line 1 has none$/],
    ["a place that is too long", `10.0.0.0/8,${"x".repeat(101)}\n`, /line 1 has none$/],
    ["too many networks", tooMany.join("\n"), /at most 1000 networks$/],
  ] as const)
    it(`is refused with ${what}`, () => {
      const file = fileOf(text);
      assert.throws(
        () => readPlaces(file),
        (error: unknown) => {
          assert.ok(error instanceof DomainError);
          assert.deepEqual([error.kind, error.reason], ["invalidArgument", "CONFIG_VALUE_WRONG"]);
          assert.equal(error.metadata["option"], "IDSVC_PLACES");
          assert.match(error.message, told);
          return true;
        },
      );
    });

  it("is shown to people beside the addresses on the pages of their account", async () => {
    const IDSVC_PLACES = fileOf("127.0.0.0/8,This <machine>\n");
    await using peer = await startOidc({ env: { IDSVC_PLACES } });
    const { loginName } = await addPersonNamed(peer);
    const agent = await signedIn(peer, await peer.addClient(), loginName);
    for (const path of [accountPaths.sessions, accountPaths.history]) {
      const { html } = await agent.open(path);
      assert.match(html, /<bdi>(?:[^<]* · )?This &lt;machine&gt; · 127\.0\.0\.1<\/bdi>/, path);
    }
  });
});
