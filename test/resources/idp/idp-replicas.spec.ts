// Run: shared, store
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { idpReader } from "../../../src/resources/idp/index.ts";
import { featureReader } from "../../../src/settings/feature/index.ts";
import { bodyOf } from "../../support/peer.ts";
import { storeOfMany } from "../../support/processes.ts";
import { withinRounds } from "../../support/paced.ts";
import { roundsOf } from "../../support/rounds.ts";
import { startIdpPeer } from "./idp-peer.ts";

// In pauses with a call between them.
const aSecond = { rounds: 10, pauseMs: 100 };

describe("identity providers in two processes that serve one store", () => {
  it("F28: are in the state that a policy gave them at the one within a second at the other", async () => {
    await using store = await storeOfMany();
    await using first = await startIdpPeer(store.first());
    await using second = await store.open();
    const on = {
      multitenancy_resources_api: true,
      multitenancy_settings: true,
      oidc_token_exchange: true,
    };
    const reader = idpReader(second.db, featureReader(second.db, on));
    const { instanceId } = first;
    const [organization, id] = [await first.addOrganization(), await first.addIdp()];
    const state = () => reader.effectiveState(instanceId, organization, id);
    const work = () => first.get("/idps/_none");
    const offered = async () =>
      (await reader.list(instanceId, organization)).map((each) => each.id);
    for (let round = 0; round < roundsOf(20); round++) {
      const isOff = round % 2 === 0;
      bodyOf(await first.setPolicy(id, isOff ? "DEACTIVATE" : "INHERIT", organization));
      const wanted = isOff ? "inactive" : "active";
      await withinRounds(`round ${round}`, aSecond, async () => (await state()) === wanted, work);
      assert.deepEqual((await offered()).includes(id), !isOff);
    }
    bodyOf(await first.remove(`/idps/${id}`));
    await withinRounds("the deletion", aSecond, async () => (await state()) === undefined, work);
  });
});
