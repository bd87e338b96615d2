import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bodyOf } from "../support/peer.ts";
import { mouse } from "./hands.ts";
import { dialogOf, done } from "./tasks.ts";
import { enterAgain, expectQuiet, faultsOf, peer, shoot, txtRecords } from "./visits.ts";

const demandProof = async (set: boolean) => {
  const body = { validate_org_domains: { set } };
  bodyOf(await peer.peer.rest("PATCH", "/settings/v3alpha/login", body, { token: peer.app.token }));
};

export function describeDomains(): void {
  describe("a demand that organizations prove their domains (J10)", () => {
    it("says before it is made whom it concerns, and of a person that they have no login name, until the domain is proven", async () => {
      const organization = { name: "Wombat", domain: "wombat.test" };
      const { details } = bodyOf(await peer.post("/organizations", organization), 201);
      const id = await peer.addPerson({ username: "wombat" }, String(details.id));
      const filters = [{ verified: { is_verified: true } }, { proven: { is_proven: false } }];
      const found = bodyOf(await peer.post("/domains/_search", filters)).details.total_result;
      assert.ok(Number(found) > 0);
      await using visit = await enterAgain("/settings/login");
      const { page } = visit;
      await page.getByRole("button", { name: "Change: Domains need a proof" }).click();
      const warning = `Domains of organizations without a proof: ${found}.`;
      await dialogOf(page).getByText(warning, { exact: false }).waitFor();
      await shoot(page, "domains-demanded");
      assert.deepEqual(await faultsOf(page), []);
      await dialogOf(page).getByRole("button", { name: "Cancel" }).click();
      try {
        await demandProof(true);
        await visit.go(`/people/${id}`);
        await page
          .getByText("None: no domain of the organization counts.", { exact: false })
          .waitFor();
        // A domain that counted without a proof is proven as any other.
        await visit.go(`/organizations/${details.id}`);
        const { open, confirm, select } = mouse(page);
        await open("Choose a way of proof: wombat.test");
        await select("Way of proof", "DOMAIN_VALIDATION_TYPE_DNS");
        await confirm("Choose a way of proof");
        const told = (what: string) =>
          dialogOf(page)
            .getByRole("figure")
            .filter({ hasText: what })
            .locator("code")
            .textContent();
        const record = await told("Name of the TXT record");
        txtRecords.set(record ?? "", [(await told("Token")) ?? ""]);
        await confirm("Close");
        await open("Check the proof: wombat.test");
        await confirm("Check the proof");
        await done(page, "Check the proof");
        const proofs = page.getByRole("button", { name: /the proof: wombat\.test$/ });
        await proofs.first().waitFor({ state: "detached" });
        await visit.go(`/people/${id}`);
        await page.getByText("wombat@wombat.test").first().waitFor();
      } finally {
        await demandProof(false);
      }
      expectQuiet(visit);
    });
  });
}
