import { randomBytes } from "node:crypto";
import type { BrowserTokens } from "../authz/ports.ts";
import { type Awaitable, whenKnown } from "../awaitable.ts";
import type { Deps } from "../projection/module.ts";
import { rowById } from "../projection/ids.ts";
import type { SecurityPolicy } from "../authz/policies.ts";
import { deleteRows, insertRow, type RowChange, updateRows } from "../storage/row-change.ts";
import type { Row } from "../storage/table.ts";
import { sessionCookie } from "./cookies.ts";
import { consoleSessions } from "./tables.ts";

type Limits = Pick<SecurityPolicy, "consoleSessionMs" | "consoleIdleMs">;

/** What the service stores for a browser. */
export type StoredTokens = { access: string; id: string };

type Call = {
  instanceId: string;
  issuer: string;
  headers: { get(name: string): string | null | undefined };
};

export type ConsoleSessions = {
  /** Makes a session for tokens that last so long; what the browser is told to keep. */
  open(
    at: Pick<Call, "instanceId" | "issuer">,
    tokens: StoredTokens,
    lastMs: number,
  ): Promise<string>;
  /** What is stored for the browser of a call of the console. */
  find(call: Call): Awaitable<StoredTokens | undefined>;
  /** Ends the session of the browser of a call of the console; what was stored for it. */
  end(call: Call): Promise<StoredTokens | undefined>;
  tokenOf: BrowserTokens;
};

/** Sent by the console with each call. No form can send it, and no page of another origin may (`api/cors.ts`). */
export const consoleHeader = "x-idsvc-console";

const cookieForm = /^[\w-]{43}$/;
// Being there is noted so often within the time that a session may be idle.
const notesPerIdle = 20;

export const isTls = ({ issuer }: Pick<Call, "issuer">): boolean => issuer.startsWith("https:");

/** Whether a page of the console calls: by the header, and by what browsers say of where a call comes from. */
export function isOfConsole({ issuer, headers }: Call): boolean {
  const origin = headers.get("origin") ?? issuer;
  const site = headers.get("sec-fetch-site") ?? "same-origin";
  return headers.get(consoleHeader) === "1" && origin === issuer && site === "same-origin";
}

/**
 * Whether a session has ended, by the limits of when it was opened and last noted, or by those of now: a limit that is shortened counts at
 * once, and one that is lengthened brings back nobody who had left.
 */
function hasEnded(
  { openedAt, seenAt, idleUntil, expiresAt }: Row<typeof consoleSessions>,
  { consoleSessionMs, consoleIdleMs }: Limits,
  time: number,
): boolean {
  const ends = [
    expiresAt.getTime(),
    seenAt.getTime() + consoleIdleMs,
    ...(idleUntil === null ? [] : [idleUntil.getTime()]),
    ...(openedAt === null ? [] : [openedAt.getTime() + consoleSessionMs]),
  ];
  return Math.min(...ends) <= time;
}

/** The sessions of browsers in the console (K4, decision 0351), within the limits that the instance has set (decision 0383). */
export function createConsoleSessions({
  db,
  secrets,
  now,
  policies: { security: limitsOf },
}: Pick<Deps, "db" | "secrets" | "now" | "policies">): ConsoleSessions {
  const byDigest = rowById(db, consoleSessions);
  const digestOf = (instanceId: string, cookie: string) =>
    secrets.digest(instanceId, `console:${cookie}`);
  const purposeOf = (digest: string) => `console ${digest}`;
  const write = (instanceId: string, change: RowChange) =>
    db.commit({ instanceId, expect: [], claims: [], events: [], changes: [change] });

  const cookieOf = (call: Call): string | undefined => {
    if (!isOfConsole(call)) return undefined;
    const cookie = sessionCookie.read(call.headers.get("cookie") ?? "", isTls(call));
    return cookie !== undefined && cookieForm.test(cookie) ? cookie : undefined;
  };

  async function stored(instanceId: string, cookie: string): Promise<StoredTokens | undefined> {
    const digest = await digestOf(instanceId, cookie);
    const row = await byDigest(instanceId, digest);
    if (row === undefined) return undefined;
    const time = now().getTime();
    const limits = await limitsOf(instanceId);
    if (hasEnded(row, limits, time)) {
      await write(instanceId, deleteRows(consoleSessions, { instanceId, digest }));
      return undefined;
    }
    const clear = await secrets.openText(instanceId, purposeOf(digest), row.tokens);
    if (clear === undefined) return undefined;
    const idleUntil = time + limits.consoleIdleMs;
    const unnoted = Math.max(
      time - row.seenAt.getTime(),
      // Under a longer limit than when it was last noted.
      idleUntil - (row.idleUntil ?? row.seenAt).getTime(),
    );
    if (unnoted * notesPerIdle >= limits.consoleIdleMs) {
      const noted = { seenAt: new Date(time), idleUntil: new Date(idleUntil) };
      await write(instanceId, updateRows(consoleSessions, { instanceId, digest }, noted));
    }
    // What is sealed was written by `open`.
    return JSON.parse(Buffer.from(clear).toString()) as StoredTokens;
  }

  const find = (call: Call): Awaitable<StoredTokens | undefined> => {
    const cookie = cookieOf(call);
    return cookie === undefined ? undefined : stored(call.instanceId, cookie);
  };

  return {
    async open(at, tokens, lastMs) {
      const { instanceId } = at;
      const cookie = randomBytes(32).toString("base64url");
      const digest = await digestOf(instanceId, cookie);
      const clear = Buffer.from(JSON.stringify(tokens));
      const sealed = await secrets.sealText(instanceId, purposeOf(digest), clear);
      const { consoleSessionMs, consoleIdleMs } = await limitsOf(instanceId);
      const lifeMs = Math.min(lastMs, consoleSessionMs);
      const openedAt = now();
      const after = (ms: number) => new Date(openedAt.getTime() + ms);
      const ends = { idleUntil: after(consoleIdleMs), expiresAt: after(lifeMs) };
      const row = { instanceId, digest, tokens: sealed, openedAt, seenAt: openedAt, ...ends };
      await write(instanceId, insertRow(consoleSessions, row));
      return sessionCookie.set(cookie, isTls(at), Math.floor(lifeMs / 1000));
    },
    find,
    async end(call) {
      const { instanceId } = call;
      const cookie = cookieOf(call);
      if (cookie === undefined) return undefined;
      const tokens = await stored(instanceId, cookie);
      const digest = await digestOf(instanceId, cookie);
      await write(instanceId, deleteRows(consoleSessions, { instanceId, digest }));
      return tokens;
    },
    tokenOf: (call) => whenKnown(find(call), (tokens) => tokens?.access),
  };
}
