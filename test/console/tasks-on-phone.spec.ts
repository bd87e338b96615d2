// Run: alone, long
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { describeTasks } from "./tasks.ts";
import { allTasks } from "./tasks/all.ts";
import { endVisits, peer } from "./visits.ts";

before(async () => {
  // The first request for a page may have to wait until the pages are built.
  assert.equal((await fetch(`${peer.issuer}/ui/console`)).status, 200);
});
after(endVisits);

describeTasks(allTasks, "on a phone");
