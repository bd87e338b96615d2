import assert from "node:assert/strict";
import type { JsonValue } from "@bufbuild/protobuf";
import { and, type Column, count, eq, isNull, ne, or } from "../../src/storage/drizzle.ts";
import type { NameResolver } from "../../src/egress/resolver.ts";
import { type Answer, basic, type OidcPeer, read, startOidc } from "../support/oidc.ts";
import { type CallOptions, connectPeer, type RestAnswer } from "../support/protocols.ts";
import { storeOfMany } from "../support/processes.ts";
import { removalsEnd } from "../support/removals.ts";
import { systemCaller } from "../support/system-caller.ts";

/** One call of a race; the turn says which process it goes to. */
export type Contestant = (turn: number) => Promise<RestAnswer>;

/** A service that is called in one or two processes. */
export type Contestants = AsyncDisposable & {
  peer: OidcPeer;
  /** A system caller. */
  system: string;
  call(method: string, path: string, body?: JsonValue, options?: CallOptions): Contestant;
  form(
    path: string,
    form: Record<string, string>,
    client?: Client,
  ): (turn: number) => Promise<Answer>;
  /** Where rows of the instance still name an object that has gone. */
  namedBy(id: string): Promise<string[]>;
  /** Waits until what was left to jobs is done. */
  settled(): Promise<void>;
  /** TXT records that both find. */
  records: Map<string, string[]>;
};
type Client = { clientId: string; secret: string };

export async function startContestants(
  on: "sqlite" | "postgres",
  processes: 1 | 2,
): Promise<Contestants> {
  const operator = systemCaller();
  const store = await storeOfMany(on);
  const env = { ...operator.env, ...store.env };
  const records = new Map<string, string[]>();
  const resolver: NameResolver = {
    addresses: async () => [],
    texts: async (name) => records.get(name) ?? [],
  };
  const peer = await startOidc({ ...store.first(), env, resolver });
  const { app, issuer } = peer;
  const second =
    processes === 1
      ? undefined
      : await store.start({ env: { ...env, IDSVC_EXTERNAL_URL: issuer }, resolver });
  const ports = second === undefined ? [app.port] : [app.port, second.port];
  const peers = ports.map((port) => connectPeer(port));
  const system = await operator.tokenFor(issuer, new Date(), 86_400_000 / 24 - 60_000);
  return {
    peer,
    records,
    system,
    call: (method, path, body, options) => (turn) => {
      const one = peers[turn % peers.length];
      assert.ok(one);
      const host = new URL(issuer).host;
      return one.rest(method, `/resources/v3alpha${path}`, body, {
        token: app.token,
        host,
        ...options,
      });
    },
    form: (path, form, client) => async (turn) =>
      read(
        await fetch(`http://localhost:${ports[turn % ports.length]}${path}`, {
          method: "POST",
          body: new URLSearchParams(form),
          headers: client === undefined ? {} : basic(client),
        }),
      ),
    namedBy: (id) => namedBy(peer, id),
    settled: () => removalsEnd(peer.app.kernel.db),
    async [Symbol.asyncDispose]() {
      for (const each of peers) each[Symbol.dispose]();
      await second?.[Symbol.asyncDispose]();
      await peer[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

// What remembers objects that have gone: their client ids stay taken (J7).
const remembering: ReadonlySet<string> = new Set(["former_client_ids"]);

async function namedBy({ app: { kernel }, at: { instanceId } }: OidcPeer, id: string) {
  const found: string[] = [];
  for (const table of kernel.projectionTables) {
    if (remembering.has(table.name)) continue;
    const t = kernel.db.table(table) as unknown as Record<string, Column>;
    for (const [name, { kind }] of Object.entries(table.columns)) {
      const column = t[name];
      if (kind !== "text" || column === undefined || t["instanceId"] === undefined) continue;
      const [row] = await kernel.db.read
        .select({ rows: count() })
        .from(kernel.db.table(table))
        .where(and(eq(t["instanceId"], instanceId), eq(column, id), isLiving(t)));
      if (Number(row?.rows ?? 0) > 0) found.push(`${table.name}.${name}`);
    }
  }
  return found;
}

// Sessions that have ended with their user are swept later.
function isLiving({ expiresAt, userCheckedAt }: Record<string, Column>) {
  if (expiresAt === undefined || userCheckedAt === undefined) return undefined;
  return or(isNull(expiresAt), ne(expiresAt, new Date(0)));
}

/** All at once, over all replicas in turn. */
export const together = <T>(calls: readonly ((turn: number) => Promise<T>)[]): Promise<T[]> =>
  Promise.all(calls.map((call, turn) => call(turn)));

/** How an answer is told in a judgement. */
export const told = ({ status, refusal }: RestAnswer): string => refusal?.reason ?? String(status);

/** No call was answered otherwise than with success, one of these, or that others kept winning. */
export function judge(answers: readonly RestAnswer[], ...reasons: string[]): number {
  const all = answers.map(told);
  for (const [at, { status }] of answers.entries()) {
    assert.ok(
      status < 300 || [...reasons, "CONCURRENT_CHANGE"].includes(all[at] ?? ""),
      all.join(),
    );
  }
  return answers.filter(({ status }) => status < 300).length;
}

/** Exactly one call succeeded, and the others were told one of these. */
export function judgeOne(answers: readonly RestAnswer[], ...reasons: string[]): void {
  assert.equal(judge(answers, ...reasons), 1, answers.map(told).join());
}
