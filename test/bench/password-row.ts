import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { LoadSpec } from "./load/spec.ts";
import { median, percentile } from "./judge.ts";
import { startServer } from "./process.ts";
import { madeRow, type RowResult } from "./report.ts";
import { call, callJson, restSpec } from "./requests.ts";
import { newStore, startService } from "./store.ts";

const base = "/resources/v3alpha";
const password = "correct horse battery staple";
const people = 8;
// A reader now and then: one that never rests would take a core from the hashing.
const pauseMs = 20;

/**
 * Sessions with a password check, of eight people at once, beside bare argon2id in as many threads; and how long a read
 * takes meanwhile, beside how long it takes alone (F22). A person's own checks go one after the other, so each
 * has a connection of their own.
 */
export async function passwordRow(rounds: number, seconds: number): Promise<RowResult> {
  using store = await newStore();
  const { child } = await startService(store.dir);
  await using service = child;
  await using bare = await startServer([join(import.meta.dirname, "peers/argon2.ts")]);
  const { token } = store;
  const logins = await Promise.all(
    Array.from({ length: people }, async (_, at) => {
      const user = {
        username: `person-${at}`,
        data: { given_name: "Ada", family_name: "Lovelace" },
        authenticators: { password: { password } },
      };
      const { details } = await callJson(
        restSpec(service.port, `POST ${base}/users`, { token, body: user }),
      );
      const checks = { user: { user_id: String(Object(details).id) }, password: { password } };
      return restSpec(service.port, `POST ${base}/sessions`, { token, body: { checks } });
    }),
  );
  const hashes = Array.from({ length: people }, () => restSpec(bare.port, "GET /"));
  const read = restSpec(service.port, "GET /settings/v3alpha/features", { token });

  const ratios: number[] = [];
  const rates: number[] = [];
  const waits: number[] = [];
  const alone: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const { times: quiet } = await timed([read], seconds / 2, pauseMs);
    const hashed = await timed(hashes, seconds);
    const [checked, beside] = await Promise.all([
      timed(logins, seconds),
      timed([read], seconds, pauseMs),
    ]);
    if (round === 0) continue;
    ratios.push(checked.rate / hashed.rate);
    rates.push(checked.rate);
    waits.push(percentile(beside.times, 99));
    alone.push(percentile(quiet, 99));
  }
  return madeRow("password-check", median(rates), {
    "x argon2id": median(ratios),
    "read p99 ms": median(waits),
    "read p99 alone ms": median(alone),
  });
}

/** Every connection sends its request again and again. */
async function timed(specs: readonly LoadSpec[], seconds: number, pause = 0) {
  const times: number[] = [];
  const began = performance.now();
  const end = began + seconds * 1000;
  await Promise.all(
    specs.map(async (spec) => {
      while (performance.now() < end) {
        const sent = performance.now();
        const { status } = await call(spec);
        assert.ok(status === 200 || status === 201, `${spec.path} answers ${status}`);
        times.push(performance.now() - sent);
        if (pause > 0) await delay(pause);
      }
    }),
  );
  return { rate: times.length / ((performance.now() - began) / 1000), times };
}
