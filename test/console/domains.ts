import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bodyOf } from "../support/peer.ts";
import { dialogOf } from "./tasks.ts";
import { enterAgain, expectQuiet, faultsOf, peer, shoot } from "./visits.ts";

const demandProof = async (set: boolean) => {
  const body = { validate_org_domains: { set } };
  bodyOf(await peer.peer.rest("PATCH", "/settings/v3alpha/login", body, { token: peer.app.token }));
};

export function describeDomains(): void {
  describe("a demand that organizations prove their domains (J10)", () => {
    it("says before it is made how many domains are not proven, and of a person that they have no login name", async () => {
      const organization = { name: "Wombat", domain: "wombat.test" };
      const { details } = bodyOf(await peer.post("/organizations", organization), 201);
      const id = await peer.addPerson({ username: "wombat" }, String(details.id));
      const filters = [{ verified: { is_verified: true } }, { proven: { is_proven: false } }];
      const found = bodyOf(await peer.post("/domains/_search", filters)).details.total_result;
      assert.ok(Number(found) > 0);
      await using visit = await enterAgain("/settings/login");
      const { page } = visit;
      await page.getByRole("button", { name: "Change: Domains need a proof" }).click();
      const told = `Domains of organizations without a proof: ${found}.`;
      await dialogOf(page).getByText(told, { exact: false }).waitFor();
      await shoot(page, "domains-demanded");
      assert.deepEqual(await faultsOf(page), []);
      await dialogOf(page).getByRole("button", { name: "Cancel" }).click();
      try {
        await demandProof(true);
        await visit.go(`/people/${id}`);
        await page
          .getByText("None: no domain of the organization counts.", { exact: false })
          .waitFor();
      } finally {
        await demandProof(false);
      }
      expectQuiet(visit);
    });
  });
}
