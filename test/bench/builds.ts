import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { counterMark, type LoadSpec, type LogInSpec } from "./load/spec.ts";
import { authorizePath, formSpec, redirectUri, servicePaths } from "./oidc-requests.ts";
import { type Child, freePort, spawnServer, untilOk } from "./process.ts";
import { callJson, restSpec } from "./requests.ts";
import { newFolder, nodeFlags } from "./store.ts";

const base = "/resources/v3alpha";
const password = "correct horse battery staple";

/** A kind of request; `waits` for those that end when something is on disk. */
export type Row = { name: string; load: LoadSpec | LogInSpec; waits: boolean };

/** Starts the checkout on a new store, as its own `npm start` does. */
export async function startBuild(
  folder: string,
  more: Record<string, string> = {},
): Promise<{ child: Child; token: string }> {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    scripts: { start: string };
  };
  const startFlags = manifest.scripts.start.match(/--\S+/g) ?? [];
  const [dir, port] = [newFolder(), await freePort()];
  const env = {
    IDSVC_DATA_DIR: dir,
    IDSVC_PORT: String(port),
    IDSVC_EXTERNAL_URL: `http://localhost:${port}`,
    ...more,
  };
  const child = spawnServer(
    [...startFlags, ...nodeFlags, join(folder, "src/main.js"), "serve"],
    env,
    port,
  );
  await untilOk(child, "/readyz", performance.now());
  const made = JSON.parse(readFileSync(join(dir, "bootstrap.json"), "utf8")) as {
    machine: { token: string };
  };
  return { child, token: made.machine.token };
}

const webApp = {
  redirect_uris: [redirectUri],
  response_types: ["OIDC_RESPONSE_TYPE_CODE"],
  grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"],
  app_type: "OIDC_APP_TYPE_WEB",
  auth_method_type: "OIDC_AUTH_METHOD_TYPE_BASIC",
};

/** Requests that any build understands, each with what it needs made over the API. */
export async function rowsOf({ port }: Child, token: string, only: string): Promise<Row[]> {
  const post = async (path: string, body?: JsonObject) =>
    Object(
      await callJson(
        restSpec(port, `POST ${base}${path}`, body === undefined ? { token } : { token, body }),
      ),
    );
  const target = (name: string): JsonObject => ({
    name,
    rest_webhook: { url: "https://hooks.example.com/audit" },
    timeout: "10s",
    interrupt_on_error: true,
  });
  const { details } = await post("/targets", target("read"));
  const { details: project } = await post("/projects", { name: "bench" });
  const api = { auth_method_type: "API_AUTH_METHOD_TYPE_BASIC" };
  const asker = await post("/apps", { name: "asker", project_id: project.id, api });
  const machine = await post("/users", { username: "caller", schema_id: "machine", data: {} });
  const { client_id, client_secret } = await post(`/users/${machine.details.id}/secret`);
  const form = {
    grant_type: "client_credentials",
    scope: `profile urn:idsvc:iam:org:project:id:${project.id}:aud`,
  };
  const by = { clientId: client_id, secret: client_secret };
  const tokenSpec = formSpec(port, servicePaths.token, by, form);
  const { access_token } = Object(await callJson(tokenSpec));
  const asked = formSpec(
    ...([port, servicePaths.introspection] as const),
    { clientId: asker.client_id, secret: asker.client_secret },
    { token: access_token },
  );
  if (Object(await callJson(asked)).active !== true) throw new Error("the token is not active");
  const { details: user } = await post("/users", {
    username: "ada",
    data: { given_name: "Ada", family_name: "Lovelace" },
    authenticators: { password: { password } },
  });
  const web = await post("/apps", { name: "web", project_id: project.id, oidc: webApp });
  const checks = { user: { user_id: user.id }, password: { password } };
  const logIn: LogInSpec = {
    protocol: "pages",
    port,
    path: authorizePath(servicePaths.authorize, web.client_id),
    loginName: "ada",
    password,
    connections: 4,
    streams: 1,
  };
  return [
    { name: "token", load: tokenSpec, waits: true },
    { name: "introspection", load: asked, waits: false },
    {
      name: "get-target",
      load: restSpec(port, `GET ${base}/targets/${details.id}`, { token }),
      waits: false,
    },
    {
      name: "create-target",
      load: restSpec(port, `POST ${base}/targets`, {
        token,
        body: target(`made ${counterMark}`),
        counted: true,
        connections: 32,
      }),
      waits: true,
    },
    {
      // Only named, so that what it costs is the writing.
      name: "create-session",
      load: restSpec(port, `POST ${base}/sessions`, {
        token,
        body: { checks: { user: checks.user } },
        connections: 32,
      }),
      waits: true,
    },
    {
      name: "password",
      load: restSpec(port, `POST ${base}/sessions`, { token, body: { checks }, connections: 1 }),
      waits: false,
    },
    {
      name: "log-in",
      load: logIn,
      waits: false,
    },
  ].filter(({ name }) => new RegExp(only).test(name));
}
