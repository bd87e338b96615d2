// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { oidcModule } from "../../src/oidc/store/index.ts";
import { beside } from "../support/beside.ts";
import { basic, paths, startOidc } from "../support/oidc.ts";

const service = await startOidc({ env: { IDSVC_FEATURE_OIDC_TOKEN_EXCHANGE: "true" } });
const { app, addClient, addPerson, addMachine, tokensFor, codeFor, events } = service;
after(() => service[Symbol.asyncDispose]());

const tables = [
  "access_tokens",
  "refresh_tokens",
  "authorization_codes",
  "oidc_sessions",
  "assertion_ids",
  "device_authorizations",
  "id_tokens",
  "oidc_lineage",
];
async function rowCounts(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const { rows } = await beside(app.kernel, `SELECT count(*) FROM ${table}`);
    counts[table] = Number(rows[0]?.[0]);
  }
  return counts;
}

describe("what has expired (C7)", () => {
  it("goes from every table, and the sessions tell of it in the log", async () => {
    const [web, user, machine] = [await addClient(), await addPerson(), await addMachine()];
    await tokensFor(web, user, { scope: ["openid", "offline_access"] });
    await codeFor(web, user);
    const form = { grant_type: "client_credentials", scope: "openid" };
    await service.send(paths.token, form, basic(machine));
    const before = await rowCounts();
    assert.deepEqual(before, {
      access_tokens: 2,
      refresh_tokens: 1,
      authorization_codes: 2,
      oidc_sessions: 1,
      assertion_ids: 0,
      device_authorizations: 0,
      id_tokens: 1,
      oidc_lineage: 0,
    });
    service.pass(91 * 24 * 60 * 60_000);
    for (const sweep of oidcModule([]).sweeps?.(service.deps) ?? []) await sweep(100);
    for (const count of Object.values(await rowCounts())) assert.equal(count, 0);
    const ended = await events("oidc_session.terminated");
    assert.deepEqual(
      ended.map(({ payload }) => payload),
      [{ reason: "expired" }],
    );
  });
});
