import { rowWhere } from "../../projection/rows.ts";
import { newerFormatOf } from "../../crypto/token-format.ts";
import type { SecretRef } from "../../eventstore/secret-store.ts";
import type { Deps } from "../../projection/module.ts";
import { insertRow, updateRows } from "../../storage/row-change.ts";
import type { Row } from "../../storage/table.ts";
import type { DeviceGrant, DeviceRequest, Devices } from "../core/device-ports.ts";
import type { At } from "../core/ports.ts";
import { fromStored, toStored } from "./codes.ts";
import { deviceAuthorization, deviceEvents } from "./events.ts";
import { hasRow } from "./spend.ts";
import { deviceAuthorizations } from "./tables.ts";
import { writtenBy } from "./write.ts";

type Parts = Pick<Deps, "db" | "events" | "secrets" | "now" | "newId">;
type DeviceRow = Row<typeof deviceAuthorizations>;

// A device that asks too soon waits longer from then on (RFC 8628 section 3.5).
const slowDownMs = 5_000;

/** Where the user code of a request lies, to be shown to whoever confirms it. */
export const userCodeRef = (instanceId: string, requestId: string): SecretRef => ({
  instanceId,
  ownerType: "device_authorization",
  ownerId: requestId,
  kind: "user_code",
  id: "1",
});

const states: readonly DeviceRequest["state"][] = ["pending", "approved", "denied", "done"];

/** Devices that wait to be let in (RFC 8628). What they wait for is decided once, whoever else decides. */
export function deviceStore(parts: Parts): Devices {
  const { db, events, secrets, now, newId } = parts;

  // Few letters, which are typed: found by their digest, and shown again from what is sealed.
  const digestOf = ({ instanceId }: Pick<At, "instanceId">, userCode: string) =>
    secrets.digest(instanceId, `user_code:${userCode}`);

  return {
    async begin(at, { deviceCode, userCode, clientId, scope, expiresAt, intervalMs }) {
      const { instanceId } = at;
      const digest = await secrets.digest(instanceId, deviceCode);
      const id = newId();
      const byCode = { instanceId, userCode: await digestOf(at, userCode) };
      return events.transact(writtenBy(at, "", clientId), async (tx) => {
        if (await hasRow(db, deviceAuthorizations, byCode)) return false;
        tx.write(
          insertRow(deviceAuthorizations, {
            ...byCode,
            digest,
            id,
            clientId,
            scope: [...scope],
            state: "pending",
            intervalMs,
            expiresAt,
          }),
          await secrets.put(userCodeRef(instanceId, id), Buffer.from(userCode), tx.now),
        );
        const loaded = tx.begin(deviceAuthorization, id);
        const owner = { type: "instance", id: instanceId } as const;
        const happened = [deviceEvents.added({ clientId, scope })];
        tx.record(deviceAuthorization, loaded, happened, owner);
        return true;
      });
    },

    async byUserCode(at, userCode) {
      const row = await find(db, at, "userCode", await digestOf(at, userCode));
      return row !== undefined && waits(row, now()) ? toRequest(row) : undefined;
    },

    async waiting(at, requestId) {
      const row = await find(db, at, "id", requestId);
      if (row === undefined || !waits(row, now())) return undefined;
      const sealed = await secrets.open(userCodeRef(at.instanceId, requestId));
      return sealed && { request: toRequest(row), userCode: Buffer.from(sealed).toString() };
    },

    approve: (at, requestId, grant) => decide(parts, at, requestId, { state: "approved", grant }),
    deny: (at, requestId) => decide(parts, at, requestId, { state: "denied" }),

    async poll(at, deviceCode) {
      const { instanceId } = at;
      if (newerFormatOf(deviceCode) !== undefined) return undefined;
      const row = await find(db, at, "digest", await secrets.digest(instanceId, deviceCode));
      if (row === undefined) return undefined;
      const { digest, intervalMs, polledAt, grant } = row;
      const tooSoon = polledAt !== null && now().getTime() - polledAt.getTime() < intervalMs;
      if (row.state === "pending") {
        const next = tooSoon ? intervalMs + slowDownMs : intervalMs;
        const asked = { polledAt: now(), intervalMs: next };
        const changes = [updateRows(deviceAuthorizations, { instanceId, digest }, asked)];
        await db.commit({ instanceId, expect: [], claims: [], events: [], changes });
      }
      const decided = grant === null ? undefined : fromStored(grant);
      return { ...toRequest(row), digest, grant: decided, tooSoon };
    },
  };
}

/** Decides over a request that waits; false when nothing waits any more. */
async function decide(
  parts: Parts,
  at: At,
  requestId: string,
  to: { state: "approved" | "denied"; grant?: DeviceGrant },
): Promise<boolean> {
  const { db, events, secrets, now } = parts;
  const { instanceId } = at;
  const row = await find(db, at, "id", requestId);
  if (row === undefined || !waits(row, now())) return false;
  const { clientId, digest } = row;
  const { grant } = to;
  const waiting = { instanceId, digest, state: "pending" };
  return events.transact(writtenBy(at, grant?.userId ?? "", clientId), async (tx) => {
    if (!(await hasRow(db, deviceAuthorizations, waiting))) return false;
    tx.expectRows(deviceAuthorizations, waiting, 1);
    const stored = grant === undefined ? {} : { grant: toStored(grant) };
    tx.write(
      updateRows(deviceAuthorizations, { instanceId, digest }, { state: to.state, ...stored }),
      secrets.remove(userCodeRef(instanceId, requestId)),
    );
    const loaded = await tx.load(deviceAuthorization, requestId);
    const happened =
      grant === undefined
        ? deviceEvents.canceled({ clientId })
        : deviceEvents.approved({ clientId, userId: grant.userId });
    tx.record(deviceAuthorization, loaded, [happened]);
    return true;
  });
}

async function find(
  db: Parts["db"],
  { instanceId }: At,
  by: "digest" | "userCode" | "id",
  value: string,
): Promise<DeviceRow | undefined> {
  return rowWhere(db, deviceAuthorizations, { instanceId, [by]: value });
}

const waits = ({ state, expiresAt }: DeviceRow, now: Date): boolean =>
  state === "pending" && expiresAt > now;

function toRequest({ id, clientId, scope, expiresAt, state }: DeviceRow): DeviceRequest {
  const known = states.find((each) => each === state) ?? "denied";
  return { id, clientId, scope, expiresAt, state: known };
}
