import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import type { JsonObject } from "@bufbuild/protobuf";
import { answers, guideOn, logInTo, running } from "../console/programs.ts";
import { endVisits, type Entered, enter, logIn, openPrivately, peer } from "../console/visits.ts";
import { freePort } from "../support/free-port.ts";
import { bodyOf } from "../support/peer.ts";

const folder = mkdtempSync(join(tmpdir(), "idsvc-guide-"));
let visit: Entered;
let projectId: string;

before(async () => {
  visit = await enter("/ui/console/people");
  projectId = String(bodyOf(await peer.post("/projects", { name: "Guide" }), 201).details.id);
});
after(async () => {
  await visit[Symbol.asyncDispose]();
  await endVisits();
  rmSync(folder, { recursive: true, force: true });
});

type App = { clientId: string; secret: string; guide: ReadonlyMap<string, string> };
let apps = 0;

/** Registers an application, and opens its guide. */
async function register(kind: JsonObject): Promise<App> {
  const app = { name: `App ${apps++}`, project_id: projectId, ...kind };
  const made = bodyOf(await peer.post("/apps", app), 201);
  await visit.go(`/applications/${made.details.id}?tab=guide`);
  return {
    clientId: String(made.client_id),
    secret: String(made.client_secret ?? ""),
    guide: await guideOn(visit.page),
  };
}

const sampleOf = ({ guide }: Pick<App, "guide">, name: string): string => {
  const text = guide.get(name);
  assert.ok(text !== undefined, `no ${name} among ${[...guide.keys()].join(", ")}`);
  return text;
};

const oidc = (redirect: string, type: string, proof: string) => ({
  oidc: {
    redirect_uris: [redirect],
    app_type: `OIDC_APP_TYPE_${type}`,
    auth_method_type: `OIDC_AUTH_METHOD_TYPE_${proof}`,
    response_types: ["OIDC_RESPONSE_TYPE_CODE"],
    grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_REFRESH_TOKEN"],
    // Pages that run in browsers alone have no plain address without it, not on this machine either.
    dev_mode: type === "USER_AGENT",
  },
});

type Language = {
  name: string;
  /** Which text of the guide is which file. */
  files: Readonly<Record<string, string>>;
  /** Beside what the program says itself. */
  prepare?: string;
  /** As what kind of application, with which proofs. */
  kinds: readonly (readonly [type: string, proof: string])[];
};

const everyKind = [
  ["WEB", "BASIC"],
  ["WEB", "POST"],
  ["NATIVE", "NONE"],
] as const;
const languages: readonly Language[] = [
  { name: "Node.js", files: { "app.mjs": "Node.js: openid-client" }, kinds: everyKind },
  {
    name: "Python",
    files: { "app.py": "Python: Authlib, Flask" },
    prepare: "python3 -m venv .",
    kinds: everyKind,
  },
  { name: "Go", files: { "main.go": "Go: go-oidc" }, kinds: everyKind },
  {
    name: "Java",
    files: {
      "pom.xml": "Java: Spring Boot, pom.xml",
      "src/main/java/App.java": "Java: Spring Boot, App.java",
    },
    kinds: everyKind,
  },
  {
    name: "JavaScript in a page",
    files: { "index.html": "JavaScript: oidc-client-ts" },
    kinds: [["USER_AGENT", "NONE"]],
  },
];

const longestStartSeconds = 120;

describe("a program of the console’s guide, as it is copied and as it says that it is run", () => {
  for (const { name, files, prepare, kinds } of languages) {
    const place = join(folder, name);
    const env = { ...process.env, PATH: `${join(place, "bin")}:${process.env["PATH"]}` };
    const shell = (command: string) =>
      promisify(execFile)("bash", ["-euc", command], { cwd: place, env });
    for (const [turn, [type, proof]] of kinds.entries()) {
      it(`lets people log in: ${name}, ${type}, ${proof}`, async () => {
        const origin = `http://localhost:${await freePort()}`;
        const app = await register(oidc(`${origin}/callback`, type, proof));
        let text = "";
        for (const [file, sample] of Object.entries(files)) {
          text = sampleOf(app, sample);
          mkdirSync(dirname(join(place, file)), { recursive: true });
          writeFileSync(join(place, file), text);
        }
        if (turn === 0) {
          if (prepare !== undefined) await shell(prepare);
          const [, install] =
            /^\S+ (?:index\.html: )?((?:npm|pip|go) .*?)(?: -->)?$/m.exec(text) ?? [];
          if (install !== undefined) await shell(install);
        }
        const [, command = "", opened] =
          /^\S+ (?:OIDC_CLIENT_SECRET=\.\.\. )?(.*), then open (\S+)/m.exec(text) ?? [];
        assert.equal(opened, origin);
        assert.equal(text.includes("OIDC_CLIENT_SECRET=..."), app.secret !== "");
        await using _ = running(["bash", "-euc", `exec ${command}`], place, {
          ...env,
          OIDC_CLIENT_SECRET: app.secret,
        });
        await answers(origin, longestStartSeconds);
        await logInTo(origin, visit);
      });
    }
  }
});

describe("commands of the console’s guide", () => {
  const shell = (command: string, env: Record<string, string> = {}) =>
    promisify(execFile)("bash", ["-euc", command], { env: { ...process.env, ...env } });

  it("let somebody log in to a device that has no browser", async () => {
    const kind = oidc("", "NATIVE", "NONE").oidc;
    const app = await register({
      oidc: { ...kind, redirect_uris: [], grant_types: ["OIDC_GRANT_TYPE_DEVICE_CODE"] },
    });
    const run = shell(sampleOf(app, "Bash: curl, jq"));
    const address = await new Promise<string>((resolve) => {
      let told = "";
      run.child.stdout?.on("data", (part: string) => {
        told += part;
        const [, found] = /^Open (\S+) and agree$/m.exec(told) ?? [];
        if (found !== undefined) resolve(found);
      });
    });
    await using beside = await openPrivately(address);
    await beside.page.locator("button[type=submit]").first().click();
    await logIn(beside.page, visit.loginName);
    await beside.page.getByRole("button", { name: "Connect", exact: true }).click();
    const { stdout } = await run;
    const [person = ""] = stdout.split("\n").slice(1);
    assert.equal(Reflect.get(Object(JSON.parse(person)), "sub"), visit.id);
  });

  it("tell an API what a token is good for, and get one as a machine", async () => {
    const machine = { username: "it's a machine", schema_id: "machine", data: { name: "Guide" } };
    const userId = String(bodyOf(await peer.post("/users", machine), 201).details.id);
    const { client_secret: secret } = bodyOf(await peer.post(`/users/${userId}/secret`));
    await visit.go(`/people/${userId}?tab=guide`);
    const text = sampleOf({ guide: await guideOn(visit.page) }, "Bash: curl, jq");
    const { stdout } = await shell(text, { CLIENT_SECRET: String(secret) });
    assert.equal(Reflect.get(Object(JSON.parse(stdout)), "user_id"), userId);

    const api = await register({ api: { auth_method_type: "API_AUTH_METHOD_TYPE_BASIC" } });
    const scope = `openid urn:idsvc:iam:org:project:id:${projectId}:aud`;
    const token = await peer.send("/oauth/v2/token", {
      grant_type: "client_credentials",
      client_id: machine.username,
      client_secret: String(secret),
      scope,
    });
    const env = { CLIENT_SECRET: api.secret, TOKEN: String(token.body.access_token) };
    const told = await shell(sampleOf(api, "curl"), env);
    const { active, sub } = Object(JSON.parse(told.stdout));
    assert.deepEqual({ active, sub }, { active: true, sub: userId });
  });

  it("are only what to set up, where a program needs more than a text", async () => {
    const app = await register(oidc("com.example.app:/callback", "NATIVE", "NONE"));
    assert.deepEqual([...app.guide.keys()], ["OpenID Connect"]);
    assert.match(sampleOf(app, "OpenID Connect"), /OIDC_REDIRECT_URI=com\.example\.app:\/callback/);
  });
});
