// Run: shared
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { settings } from "../../.ci/image.ts";
import { idsvc, newFolder } from "../cli/command.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

describe("the Dockerfile", () => {
  it("gives the image what that of `npm run package:image` has", () => {
    const text = read("deploy/image/Dockerfile");
    const [, last = ""] = text.split("FROM scratch\n");
    const said = (name: string) => new RegExp(`^${name} (.*)$`, "m").exec(last)?.[1] ?? "";
    assert.equal(said("USER"), settings.User);
    assert.deepEqual(said("ENV").split(" "), settings.Env);
    assert.deepEqual(JSON.parse(said("ENTRYPOINT")), settings.Entrypoint);
    assert.deepEqual(JSON.parse(said("CMD")), settings.Cmd);
    assert.equal(said("WORKDIR"), settings.WorkingDir);
    assert.deepEqual([said("VOLUME")], Object.keys(settings.Volumes));
    assert.deepEqual([`${said("EXPOSE")}/tcp`], Object.keys(settings.ExposedPorts));
    assert.equal(said("STOPSIGNAL"), settings.StopSignal);
  });
});

describe("compose.yaml", () => {
  const { services, secrets, networks } = parse(read("deploy/compose/compose.yaml"));
  const [, commands = ""] = /```sh\n(.*?)```/s.exec(read("docs/deploy/compose.md")) ?? [];

  it("tells the service only what it understands, with the secrets that the page makes", async () => {
    const folder = newFolder();
    execFileSync("bash", ["-euc", commands], { cwd: folder });
    const env = Object.fromEntries(
      Object.entries<string>(services.idsvc.environment).map(([name, value]) => [
        name,
        value
          .replace("/run/secrets", join(folder, "secrets"))
          .replace(/\$\{IDSVC_DOMAIN.*?\}/, "id.example.com"),
      ]),
    );
    const { code, out, err } = await idsvc(["config"], { IDSVC_HOST: "0.0.0.0", ...env });
    assert.equal(code, 0, err);
    for (const name of Object.keys(env))
      assert.match(out, new RegExp(`^${name.replace("_FILE", "")} .*\\((?!default)`, "m"));
    assert.match(out, /^IDSVC_DATABASE_URL +postgres:\/\/idsvc:\S+@postgres\/idsvc/m);
    for (const { file } of Object.values<{ file: string }>(secrets))
      assert.ok(existsSync(join(folder, file)), file);
  });

  it("trusts the proxy, which alone is reached from outside", () => {
    const [{ subnet }] = networks.inside.ipam.config;
    assert.equal(services.idsvc.environment.IDSVC_TRUSTED_PROXIES, subnet);
    const open = Object.entries<{ ports?: string[] }>(services).filter(([, { ports }]) => ports);
    assert.deepEqual(
      open.map(([name]) => name),
      ["caddy"],
    );
    const proxied = /h2c:\/\/idsvc:(\d+)/.exec(read("deploy/compose/Caddyfile"))?.[1];
    assert.ok(`${proxied}/tcp` in settings.ExposedPorts);
  });
});
