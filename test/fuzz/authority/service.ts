import type { ServiceDeps } from "../../../src/app/deps.ts";
import http from "node:http";
import type { JsonValue } from "@bufbuild/protobuf";
import type { Scope } from "../../../src/authz/context.ts";
import type { At, Ports } from "../../../src/oidc/core/ports.ts";
import { clientPorts } from "../../../src/oidc/store/index.ts";
import { featureReader } from "../../../src/settings/feature/index.ts";
import { startTestApp, type TestApp, type TestOptions } from "../../support/app.ts";
import { depsTold } from "../../support/deps.ts";
import { type FakeProvider, startFakeProvider } from "../../support/fake-provider.ts";
import { freePort } from "../../support/free-port.ts";
import { type Another, storeOfMany } from "../../support/processes.ts";
import { systemCaller } from "../../support/system-caller.ts";
import { exchangeOne, type RawAnswer, type RawRequest } from "../../support/wire.ts";
import { type GrpcCaller, grpcCaller } from "./grpc.ts";
import { probeModule, probePath } from "./probe.ts";

/** The service that is searched, in this process. Each world is an instance of it. */
export type Service = AsyncDisposable & {
  app: TestApp;
  port: number;
  deps: ServiceDeps;
  ports: Pick<Ports, "tokens" | "clients" | "users">;
  /** Providers that others trust, and that the attacker runs. */
  honest: FakeProvider;
  attackers: FakeProvider;
  now(): Date;
  pass(ms: number): void;
  systemToken(): Promise<string>;
  grpc: Pick<GrpcCaller, "call">;
  send(request: RawRequest): Promise<RawAnswer>;
  /** What the service takes the bearer of a token for; undefined for nobody. */
  whoIs(host: string, token: string): Promise<Scope | undefined>;
  atOf(instanceId: string, host: string): At;
};

const budgets = [
  "GUESSES",
  "MESSAGES",
  "RECIPIENT_MESSAGES",
  "SENDER_MESSAGES",
  "REGISTRATIONS",
  "FLOWS",
  "UNAUTHENTICATED",
  "CONNECTIONS",
];

/** @param processes how many serve the store that is searched: calls go to them in turn */
export async function startService(processes: number): Promise<Service> {
  const port = await freePort();
  const operator = systemCaller();
  const [probe, told] = [probeModule(), depsTold()];
  const [honest, attackers] = [
    await startFakeProvider({ isInBackground: true }),
    await startFakeProvider({ isInBackground: true }),
  ];
  let shift = 0;
  const now = () => new Date(Date.now() + shift);
  const options: TestOptions = {
    now,
    moreModules: [probe.module, told.module],
    // Nothing of the world outside is asked: no domain is anybody's.
    resolver: {
      addresses: async (name) => (name === "localhost" ? ["127.0.0.1"] : []),
      texts: async () => [],
    },
    env: {
      ...operator.env,
      IDSVC_PORT: String(port),
      IDSVC_EXTERNAL_URL: `http://localhost:${port}`,
      IDSVC_FEATURE_OIDC_TOKEN_EXCHANGE: "true",
      // What strangers may cost has tests of its own.
      ...Object.fromEntries(budgets.map((name) => [`IDSVC_BUDGET_${name}`, "0"])),
    },
  };
  const store = processes > 1 ? await storeOfMany() : undefined;
  const app = await startTestApp({ ...store?.first(), ...options });
  const deps = told.deps();
  const others: Another[] = [];
  for (let nth = 1; nth < processes && store !== undefined; nth++) {
    others.push(await store.start({ ...options, env: { ...options.env, IDSVC_PORT: "0" } }));
  }
  const ports = clientPorts({
    ...deps,
    features: featureReader(deps.db, app.kernel.featureDefaults),
  });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
  const callers = [app, ...others].map((each) => ({
    grpc: grpcCaller(each.port),
    send: (request: RawRequest) => exchangeOne(each.port, agent, request),
  }));
  let turn = 0;
  const next = () => {
    const caller = callers[turn++ % callers.length];
    if (caller === undefined) throw new Error("nobody serves");
    return caller;
  };
  const grpc: Service["grpc"] = { call: (...given) => next().grpc.call(...given) };
  const send: Service["send"] = (request) => next().send(request);
  return {
    app,
    port,
    deps,
    ports,
    honest,
    attackers,
    now,
    grpc,
    send,
    pass: (ms) => void (shift += ms),
    systemToken: () => operator.tokenFor(app.made.issuer, now()),
    async whoIs(host, token) {
      const headers = {
        host,
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
      };
      probe.told();
      const { status } = await send({ path: probePath, headers, body: "{}" });
      const scope = probe.told();
      return status === 200 ? scope : undefined;
    },
    atOf: (instanceId, host) => ({ instanceId, issuer: `http://${host}`, requestId: "search" }),
    async [Symbol.asyncDispose]() {
      agent.destroy();
      for (const each of callers) each.grpc[Symbol.dispose]();
      for (const each of [...others, app]) await each[Symbol.asyncDispose]();
      await store?.[Symbol.asyncDispose]();
      for (const each of [honest, attackers]) await each[Symbol.asyncDispose]();
    },
  };
}

/** A call of the APIs in JSON. */
export async function callJson(
  { send }: Pick<Service, "send">,
  call: { host: string; token?: string; method?: string; path: string; body?: JsonValue },
): Promise<{ status: number; json: JsonValue }> {
  const { host, token, method = "POST", path, body } = call;
  const bearer = token === undefined || token === "" ? {} : { authorization: `Bearer ${token}` };
  // What a header cannot hold is no token.
  const safe = Object.fromEntries(
    Object.entries(bearer).filter(([, value]) => /^[\x20-\x7e]{1,8000}$/.test(value)),
  );
  return send({
    method,
    path,
    headers: { host, ...safe, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Has a provider log in who it is told to, at the time of the service. */
export function script(
  { now }: Pick<Service, "now">,
  provider: FakeProvider,
  user: { sub: string; email?: string; email_verified?: boolean },
): void {
  const seconds = Math.floor(now().getTime() / 1_000);
  provider.script.user = { preferred_username: user.sub, name: user.sub, ...user };
  provider.script.idToken = { iat: seconds, auth_time: seconds, exp: seconds + 300 };
}
