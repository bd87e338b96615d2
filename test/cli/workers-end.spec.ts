// Run: alone, long, early
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  addTarget,
  assertNoneFell,
  countersIn,
  type Engine,
  engineNames,
  metricsOf,
  metricsToken,
  processesOf,
  request,
  type Service,
  startWorkers,
  workerOf,
} from "./workers.ts";

/** How often one is killed, each in turn (IDSVC_TEST_KILLS). */
const kills = Number(process.env["IDSVC_TEST_KILLS"] ?? 6);
const writers = 4;
// Every request is a line of the log, which is searched again and again.
const betweenMs = 20;

const ends = (engine: Engine) => {
  let service: Service;
  before(async () => {
    service = await startWorkers(engine, { IDSVC_METRICS_TOKEN: metricsToken });
  });
  after(() => service.end());

  it("replace each that is killed in turn under load: what was acknowledged is seen at once, and stays", async () => {
    const acknowledged: string[] = [];
    const unseen: string[] = [];
    let killedWriters = 0;
    const stopping = new AbortController();
    const write = async (writer: number) => {
      for (let nth = 0; !stopping.signal.aborted; nth += 1) {
        await delay(betweenMs);
        // Whoever is killed meanwhile answers nothing.
        const added = await addTarget(service, `kept ${writer} ${nth}`).catch(() => undefined);
        if (added?.status !== 201) continue;
        const { details } = (await added.json()) as { details: { id: string } };
        acknowledged.push(details.id);
        const path = `/resources/v3alpha/targets/${details.id}`;
        const read = await request(service, path).catch(() => undefined);
        if (read?.status === 404) unseen.push(details.id);
        await read?.text();
      }
    };
    const writing = Promise.all(Array.from({ length: writers }, (_, at) => write(at)));
    try {
      for (let round = 0; round < kills; round += 1) {
        const { workers, writer } = processesOf(service);
        const victims = writer === undefined ? workers : [...workers, writer];
        const victim = victims[round % victims.length];
        assert.ok(victim !== undefined);
        const [written, served] = [acknowledged.length, service.said("serving")];
        process.kill(victim, "SIGKILL");
        if (victim === writer) killedWriters += 1;
        else await service.until("it is replaced", () => service.said("serving") === served + 1);
        await service.until("writes go on", () => acknowledged.length > written + writers);
      }
    } finally {
      stopping.abort();
      await writing;
    }
    assert.deepEqual(unseen, []);
    for (const id of acknowledged) {
      const answer = await request(service, `/resources/v3alpha/targets/${id}`);
      await answer.text();
      assert.equal(answer.status, 200, id);
    }
    const killedWorkers = service.said("a worker has ended and is replaced");
    assert.equal(killedWorkers, kills - killedWriters);
    assert.equal(service.said("the process that writes has ended and is replaced"), killedWriters);
  });

  it("replace one that hangs", async () => {
    const victim = workerOf(service);
    const served = service.said("serving");
    const counted = countersIn(await metricsOf(service));
    process.kill(victim, "SIGSTOP");
    // Half of the connections go to the one that hangs.
    const scraped = Array.from({ length: 8 }, () => metricsOf(service).catch(() => ""));
    await service.until("it is noticed", () => service.said("a worker hangs and is killed") === 1);
    await service.until("it is replaced", () => service.said("serving") === served + 1);
    assert.equal((await request(service, "/healthz")).status, 200);
    const answers = (await Promise.all(scraped)).filter((text) => text !== "");
    assert.ok(answers.length > 0, "the other one answers for both");
    for (const text of [...answers, await metricsOf(service)])
      assertNoneFell(counted, countersIn(text));
  });
};

for (const engine of ["sqlite", "postgres"] as const) {
  describe(`processes that serve together (on ${engineNames[engine]})`, () => ends(engine));
}
