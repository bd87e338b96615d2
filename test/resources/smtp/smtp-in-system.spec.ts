// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { bodyOf, uniqueName } from "../../support/peer.ts";
import { inSystem, startSmtpPeer, type SmtpPeer } from "./smtp-peer.ts";

let service: SmtpPeer;
before(async () => {
  service = await startSmtpPeer();
});
after(() => service[Symbol.asyncDispose]());

const active = "EFFECTIVE_STATE_ACTIVE";
const inactive = "EFFECTIVE_STATE_INACTIVE";

/** Another instance, with what is asked of its providers by a system caller. */
async function addInstance() {
  const wanted = {
    name: uniqueName("instance"),
    domain: `${uniqueName("i").replace(" ", "-")}.tenant.test`,
    organization: { name: "First" },
    machine: { username: "owner", name: "Owner" },
  };
  const made = bodyOf(await service.post("/instances", wanted, service.system), 201);
  return String(made.details.id);
}

describe("searching providers of mails from the system", () => {
  it("finds those of the system and of every instance, each as its own context sees it", async () => {
    const tag = uniqueName("everywhere");
    const other = await addInstance();
    const named = `?ctx.instance_id=${other}`;
    const provider = { description: tag };
    const ofSystem = await service.add(provider, inSystem);
    const [first, second] = [await service.add(provider), await service.add(provider)];
    const elsewhere = await service.add(provider, named);
    const search = async (filters: JsonObject[] = []) =>
      bodyOf(
        await service.post(
          `/smtp_providers/_search${inSystem}&query.asc=true`,
          [{ description: { description: tag } }, ...filters],
          service.system,
        ),
      );
    const found = await search();
    const seen = found.result.map((each: JsonObject) => {
      const { details, state, parent } = Object(each);
      return [details.id, details.resource_owner.id, state, parent];
    });
    assert.deepEqual(seen, [
      [ofSystem, "", active, undefined],
      [first, service.instanceId, inactive, undefined],
      [second, service.instanceId, active, undefined],
      [elsewhere, other, active, undefined],
    ]);
    assert.equal(found.details.total_result, "4");
    const idsOf = ({ result }: { result: { details: { id: string } }[] }) =>
      result.map(({ details }) => details.id);
    const inState = async (state: string) => idsOf(await search([{ state: { state } }]));
    assert.deepEqual(await inState(active), [ofSystem, second, elsewhere]);
    assert.deepEqual(await inState(inactive), [first]);
    bodyOf(await service.remove(`/instances/${other}`, service.system));
    assert.deepEqual(idsOf(await search()), [ofSystem, first, second]);
  });

  it("finds no more than its own and what it inherits from an instance that is named", async () => {
    const tag = uniqueName("named");
    const other = await addInstance();
    const named = `?ctx.instance_id=${other}`;
    const ofSystem = await service.add({ description: tag }, inSystem);
    await service.add({ description: tag });
    const elsewhere = await service.add({ description: tag }, named);
    const { result } = bodyOf(
      await service.post(
        `/smtp_providers/_search${named}&query.asc=true`,
        [{ description: { description: tag } }],
        service.system,
      ),
    );
    const ids = result.map(({ details }: { details: { id: string } }) => details.id);
    assert.deepEqual(ids, [ofSystem, elsewhere]);
  });
});
