import assert from "node:assert/strict";
import http from "node:http";
import { decodeProtectedHeader } from "jose";
import { counterMark, type LoadSpec } from "./load/spec.ts";
import type { BenchCase } from "./measure.ts";
import {
  authorizePath,
  codeForm,
  type Credentials,
  formSpec,
  getSpec,
  type Paths,
  refreshForm,
} from "./oidc-requests.ts";
import { call, callJson } from "./requests.ts";

/** A provider under load: the service or its peer. */
export type Side = {
  name: string;
  pid: number;
  port: number;
  paths: Paths;
  web: Credentials;
  /** Who asks about tokens of `web`. */
  asker: Credentials;
  machines: Partial<Record<"opaque" | "RS256" | "ES256", Machine>>;
  /** The cookie of a browser in which somebody has logged in at `web`. */
  cookie: string;
  /** Codes of `web` for `openid offline_access`, made beforehand. */
  offline: string[];
  /** Where its store is; a peer without one keeps everything in memory. */
  disk?: string;
};

/** A machine, and the host at which it asks where that is another one. */
export type Machine = Credentials & { host?: string };

const families = 72;
const redeemers = 16;

/** How many codes for `offline_access` a run uses up: one load a round lasts a second. */
export const offlineCodesFor = (rounds: number): number => (rounds + 1) * (families + 4) + 8;

/** Everything that is asked of a provider. */
export function oidcCases(side: Side): BenchCase[] {
  const { name, pid, port, paths, web, machines, cookie } = side;
  const each = (
    what: string,
    load: BenchCase["load"],
    verify: () => Promise<void>,
    more: Partial<BenchCase> = {},
  ): BenchCase => ({ name: `${what} ${name}`, pid, load, verify, ...more });
  const waiting = side.disk === undefined ? {} : { disk: side.disk };
  const redeem = (code: string) => callJson(formSpec(port, paths.token, web, codeForm(code)));
  const asked = getSpec(port, authorizePath(paths.authorize, web.clientId), { cookie });
  /** A code as the browser of somebody who has logged in gets it. */
  const newCode = async (over?: http.Agent): Promise<string> => {
    const { headers } = await call(asked, over);
    const to = new URL(String(headers["location"] ?? ""), "http://nowhere.test");
    const code = to.searchParams.get("code");
    assert.ok(code !== null, `the browser was sent to ${String(to)}`);
    return code;
  };
  /** What many browsers get in this time. */
  const codesOf = async (seconds: number): Promise<string[]> => {
    const over = new http.Agent({ keepAlive: true });
    const end = performance.now() + seconds * 1000;
    const codes: string[] = [];
    const browser = async () => {
      while (performance.now() < end) codes.push(await newCode(over));
    };
    await Promise.all(Array.from({ length: asked.connections }, browser));
    over.destroy();
    return codes;
  };
  const documentCase = (what: string, path: string, member: string) => {
    const spec = getSpec(port, path);
    return each(what, spec, async () => {
      const { [member]: value } = await callJson(spec);
      assert.ok(Array.isArray(value) && value.length > 0, `${member} is there`);
    });
  };
  const machineCase = (kind: "opaque" | "RS256" | "ES256", by: Machine) => {
    const form = { grant_type: "client_credentials", scope: "profile" };
    const asking = formSpec(port, paths.token, by, form);
    const host = by.host === undefined ? {} : { Host: by.host };
    const spec = { ...asking, headers: { ...asking.headers, ...host } };
    const verify = async () => {
      const token = String((await callJson(spec))["access_token"]);
      if (kind === "opaque") assert.ok(!token.includes("."), token);
      else assert.equal(decodeProtectedHeader(token).alg, kind);
    };
    return each(`token ${kind}`, spec, verify, waiting);
  };
  const refreshSpec = (token: string) => formSpec(port, paths.token, web, refreshForm(token));
  const familyOf = async () => {
    const code = side.offline.pop();
    assert.ok(code !== undefined, "no code is left");
    return String((await redeem(code))["refresh_token"]);
  };
  const checkTokens = (body: Record<string, unknown>) => {
    assert.equal(decodeProtectedHeader(String(body["id_token"])).alg, "ES256");
    assert.equal(typeof body["access_token"], "string");
  };
  const opaqueToken = async () => String((await redeem(await newCode()))["access_token"]);
  let bearer: LoadSpec | undefined;
  const userinfoSpec = async () =>
    (bearer ??= getSpec(port, paths.userinfo, { authorization: `Bearer ${await opaqueToken()}` }));

  const cases: BenchCase[] = [
    documentCase("discovery", paths.discovery, "grant_types_supported"),
    documentCase("keys", paths.keys, "keys"),
    introspectionCase(side, "introspection", opaqueToken),
    each("userinfo", userinfoSpec, async () => {
      assert.equal(typeof (await callJson(await userinfoSpec()))["sub"], "string");
    }),
    each(
      "refresh",
      async () => {
        const values = await Promise.all(Array.from({ length: families }, familyOf));
        return { ...refreshSpec(counterMark), feed: { values, again: "refresh_token" } };
      },
      async () => {
        const token = await familyOf();
        const body = await callJson(refreshSpec(token));
        checkTokens(body);
        assert.notEqual(body["refresh_token"], token);
      },
      { mostSeconds: 1, ...waiting },
    ),
    each(
      "code",
      // Where these are used up before its end, the load ends with them.
      async (seconds) => ({
        ...formSpec(port, paths.token, web, codeForm(counterMark)),
        feed: { values: await codesOf(2 * seconds) },
      }),
      async () => checkTokens(await redeem(await newCode())),
      { mostSeconds: 1, ...waiting },
    ),
    each(
      "flow",
      {
        ...asked,
        feed: {
          values: [],
          next: {
            parameter: "code",
            ...formSpec(port, paths.token, web, codeForm(counterMark)),
          },
        },
      },
      async () => checkTokens(await redeem(await newCode())),
      waiting,
    ),
  ];
  for (const kind of ["opaque", "RS256", "ES256"] as const) {
    const by = machines[kind];
    if (by !== undefined) cases.push(machineCase(kind, by));
  }
  return cases;
}

/** Many tokens asked about in turn, and one of them, by the same generator. */
export async function introspectionOfMany(
  side: Pick<Side, "name" | "pid" | "port" | "paths" | "web" | "asker">,
  codes: readonly string[],
): Promise<BenchCase[]> {
  const { pid, port, paths, web, asker } = side;
  const asking = (token: string) => formSpec(port, paths.introspection, asker, { token });
  const bodies: string[] = [];
  const left = codes.values();
  const redeemer = async () => {
    const over = new http.Agent({ keepAlive: true });
    for (const code of left) {
      const { body } = await call(formSpec(port, paths.token, web, codeForm(code)), over);
      const { access_token: token } = Object(JSON.parse(body.toString("utf8")));
      const asked = asking(String(token));
      bodies.push(asked.body);
      // The rows compare what is known: the first question about each is none of them.
      await call(asked, over);
    }
    over.destroy();
  };
  await Promise.all(Array.from({ length: redeemers }, redeemer));
  assert.equal(bodies.length, codes.length);
  const [one = ""] = bodies;
  const caseOf = (what: string, inTurn: string[]): BenchCase => {
    const load = { ...asking(""), body: one, bodies: inTurn };
    const verify = async () => assert.equal((await callJson(load))["active"], true);
    return { name: `introspection of ${what}`, pid, load, verify };
  };
  return [caseOf("many tokens", bodies), caseOf("one token", [one])];
}

/** The same token asked about again and again, as resource servers do. */
export function introspectionCase(
  { name, pid, port, paths, asker }: Pick<Side, "name" | "pid" | "port" | "paths" | "asker">,
  what: string,
  token: () => Promise<string>,
): BenchCase {
  let spec: LoadSpec | undefined;
  const load = async () =>
    (spec ??= formSpec(port, paths.introspection, asker, { token: await token() }));
  const verify = async () => assert.equal((await callJson(await load()))["active"], true);
  return { name: `${what} ${name}`, pid, load, verify };
}
