// Run: alone, long, early
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { addTarget, childrenOf, request, type Service, startWorkers } from "./workers.ts";

/** How often each is killed in turn; the issue asked for a hundred (IDSVC_TEST_KILLS). */
const kills = Number(process.env["IDSVC_TEST_KILLS"] ?? 10);

describe("processes that serve together", () => {
  let service: Service;
  before(async () => {
    service = await startWorkers();
  });
  after(() => service.end());

  it("replace each that is killed in turn under load: nothing that was acknowledged is lost, or not seen at once", async () => {
    const acknowledged: string[] = [];
    let isOver = false;
    const idOf = async (added: Response) =>
      ((await added.json()) as { details: { id: string } }).details.id;
    const write = async (writer: number) => {
      for (let nth = 0; !isOver; nth += 1) {
        // Whoever is killed meanwhile answers nothing.
        const added = await addTarget(service, `kept ${writer} ${nth}`).catch(() => undefined);
        if (added?.status !== 201) continue;
        const id = await idOf(added);
        acknowledged.push(id);
        const read = await request(service, `/resources/v3alpha/targets/${id}`).catch(
          () => undefined,
        );
        assert.ok([200, 503, undefined].includes(read?.status), `${id}: ${read?.status}`);
      }
    };
    const writing = Promise.all([1, 2, 3, 4].map(write));
    for (let round = 0; round < kills; round += 1) {
      const victim = childrenOf(service.child)[round % 2];
      assert.ok(victim !== undefined);
      process.kill(victim, "SIGKILL");
      const serving = round + 3;
      await service.until("it is replaced", () => service.said("serving").length === serving);
    }
    isOver = true;
    await writing;
    assert.ok(acknowledged.length > 10 * kills, `${acknowledged.length} were acknowledged`);
    for (const id of acknowledged) {
      const { status } = await request(service, `/resources/v3alpha/targets/${id}`);
      assert.equal(status, 200, id);
    }
    assert.equal(service.said("a worker has ended and is replaced").length, kills);
  });

  it("replace one that hangs", async () => {
    const [victim = 0] = childrenOf(service.child);
    process.kill(victim, "SIGSTOP");
    const serving = service.said("serving").length;
    await service.until(
      "it is noticed",
      () => service.said("a worker hangs and is killed").length === 1,
    );
    await service.until("it is replaced", () => service.said("serving").length === serving + 1);
    assert.equal((await request(service, "/healthz")).status, 200);
  });
});
