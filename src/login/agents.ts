import { createHmac, randomBytes } from "node:crypto";
import { whenKnown } from "../awaitable.ts";
import type { Deps } from "../projection/module.ts";
import { equalInConstantTime } from "../crypto/digests.ts";
import { rowById } from "../projection/ids.ts";
import { deleteRows, putRow, type RowChange } from "../storage/row-change.ts";
import { userAgents } from "./tables.ts";

/** What the browser remembers of a choice of language. */
export const languageCookie = "idsvc-language";

/** A browser: what it holds as its cookie, and the sessions of users who logged in with it. */
export type Agent = {
  id: string;
  /** The value of its cookie. */
  cookie: string;
  sessionIds: readonly string[];
  /** Somebody has logged in here, whether or not they still are. */
  isKept: boolean;
  /** Its cookie alone tells of it: nothing of it is stored. */
  isStranger: boolean;
  createdAt: Date;
};

export type Agents = {
  /** The browser that holds one of our cookies; undefined without, and for every other value. */
  load(instanceId: string, cookies: string, isTls: boolean): Promise<Agent | undefined>;
  /** A browser that is seen for the first time. Its cookie is proof of itself, so that it costs no row (J12a). */
  create(instanceId: string): Promise<Agent>;
  /**
   * The same browser with another cookie and these sessions; the cookie before it is dead. To be called whenever the
   * browser may do something that it might not before, so that nobody who knew its cookie may do it too (D55).
   */
  renew(instanceId: string, agent: Agent, sessionIds: readonly string[]): Promise<Agent>;
};

const lifeMs = 365 * 24 * 60 * 60_000;
const strangerLifeMs = 24 * 60 * 60_000;
const mostSessions = 20;
const cookieForm = /^[\w-]{43}$/;
// The cookie of a stranger: the minute it was made in, what is drawn, and what proves that it was made here.
const minuteMs = 60_000;
const minuteBytes = 4;
const drawnBytes = 12;
const proofBytes = 16;
const skewMs = 60 * minuteMs;

/** Under TLS the name binds the cookie to the host: no neighbour and no cleartext can plant one (RFC 6265bis). */
const cookieName = (isTls: boolean): string => (isTls ? "__Host-idsvc-browser" : "idsvc-browser");

/** What the browser is told to keep. */
export const agentCookie = ({ cookie }: Agent, isTls: boolean): string =>
  [
    `${cookieName(isTls)}=${cookie}`,
    "Path=/",
    `Max-Age=${lifeMs / 1000}`,
    "HttpOnly",
    "SameSite=Lax",
    ...(isTls ? ["Secure"] : []),
  ].join("; ");

/** The token of the forms of a browser: it follows from the cookie, which no page can read, and changes with it. */
export const csrfTokenOf = ({ cookie }: Agent): string =>
  createHmac("sha256", cookie).update("csrf").digest("base64url");

export const isCsrfTokenOf = (agent: Agent, token: string): boolean =>
  equalInConstantTime(Buffer.from(token), Buffer.from(csrfTokenOf(agent)));

/** The value of a cookie in a `Cookie` header; of several of one name the first. */
export function readCookie(header: string, name: string): string | undefined {
  for (const part of header.split(";")) {
    const at = part.indexOf("=");
    if (at !== -1 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

export function createAgents({ db, secrets, now }: Pick<Deps, "db" | "secrets" | "now">): Agents {
  const byDigest = rowById(db, userAgents);
  const digestOf = (instanceId: string, cookie: string) =>
    secrets.digest(instanceId, `browser:${cookie}`);
  const write = (instanceId: string, changes: RowChange[]) =>
    db.commit({ instanceId, expect: [], claims: [], events: [], changes });

  async function row(instanceId: string, { id, cookie, sessionIds, isKept, createdAt }: Stored) {
    const digest = await digestOf(instanceId, cookie);
    // A browser in which nobody ever logged in is soon forgotten.
    const expiresAt = isKept
      ? new Date(now().getTime() + lifeMs)
      : new Date(createdAt.getTime() + strangerLifeMs);
    return { instanceId, digest, id, sessionIds: [...sessionIds], createdAt, expiresAt };
  }

  /** What proves that a cookie was made here, and the id of its browser: the halves of one digest. */
  const keyed = (instanceId: string, made: Buffer) =>
    whenKnown(secrets.digest(instanceId, `browser-made:${made.toString("base64url")}`), (hex) => ({
      proof: Buffer.from(hex, "hex").subarray(0, proofBytes),
      id: hex.slice(2 * proofBytes),
    }));

  const stranger = (id: string, made: Buffer, cookie: string): Agent => ({
    id,
    cookie,
    sessionIds: [],
    isKept: false,
    isStranger: true,
    createdAt: new Date(made.readUInt32BE() * minuteMs),
  });

  /** The stranger whose cookie it is. Each cookie is written in one way alone, or a dead one could be spelled anew. */
  async function strangerBy(instanceId: string, cookie: string): Promise<Agent | undefined> {
    const bytes = Buffer.from(cookie, "base64url");
    const made = bytes.subarray(0, minuteBytes + drawnBytes);
    const { proof, id } = await keyed(instanceId, made);
    const isOurs = equalInConstantTime(bytes.subarray(made.length), proof);
    if (!isOurs || bytes.toString("base64url") !== cookie) return undefined;
    const agent = stranger(id, made, cookie);
    return now().getTime() < agent.createdAt.getTime() + strangerLifeMs ? agent : undefined;
  }

  /** What keeps the cookie of a stranger dead for as long as it would prove itself, by every clock. */
  async function dead(instanceId: string, { cookie, createdAt }: Agent) {
    const none = { id: "", cookie, sessionIds: [], isKept: false, createdAt };
    const expiresAt = new Date(createdAt.getTime() + strangerLifeMs + skewMs);
    return { ...(await row(instanceId, none)), expiresAt };
  }

  return {
    async load(instanceId, cookies, isTls) {
      const cookie = readCookie(cookies, cookieName(isTls));
      if (cookie === undefined || !cookieForm.test(cookie)) return undefined;
      const digest = await digestOf(instanceId, cookie);
      const found = await byDigest(instanceId, digest);
      if (found === undefined) return strangerBy(instanceId, cookie);
      if (found.id === "" || found.expiresAt <= now()) return undefined;
      const { id, sessionIds, createdAt, expiresAt } = found;
      const isKept = expiresAt.getTime() - createdAt.getTime() > strangerLifeMs;
      return { id, cookie, sessionIds, isKept, isStranger: false, createdAt };
    },

    async create(instanceId) {
      const made = randomBytes(minuteBytes + drawnBytes);
      made.writeUInt32BE(Math.floor(now().getTime() / minuteMs));
      const { proof, id } = await keyed(instanceId, made);
      return stranger(id, made, Buffer.concat([made, proof]).toString("base64url"));
    },

    async renew(instanceId, agent, sessionIds) {
      const renewed = {
        ...agent,
        cookie: randomBytes(32).toString("base64url"),
        sessionIds: [...new Set(sessionIds)].slice(-mostSessions),
        isKept: agent.isKept || sessionIds.length > 0,
        isStranger: false,
      };
      const digest = await digestOf(instanceId, agent.cookie);
      await write(instanceId, [
        agent.isStranger
          ? putRow(userAgents, await dead(instanceId, agent))
          : deleteRows(userAgents, { instanceId, digest }),
        putRow(userAgents, await row(instanceId, renewed)),
      ]);
      return renewed;
    },
  };
}

type Stored = Omit<Agent, "isStranger">;
