// Run: shared
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { options } from "../../src/app/options.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const { version } = JSON.parse(read("package.json"));

// What the chart makes is judged by helm and kubeconform, in `npm run counterparts`.
describe("the chart", () => {
  const schema = JSON.parse(read("deploy/helm/idsvc/values.schema.json"));

  it("is of the version of the service, as all that names an image is", () => {
    const chart = parse(read("deploy/helm/idsvc/Chart.yaml"));
    assert.deepEqual([chart.version, chart.appVersion], [version, version]);
    const pages = readdirSync(join(root, "docs/deploy")).map((name) => `docs/deploy/${name}`);
    const naming = ["deploy/compose/compose.yaml", "deploy/image/Dockerfile", ...pages];
    for (const path of naming)
      for (const [, named] of read(path).matchAll(/idsvc[:_](\d+\.\d+\.\d+)/g))
        assert.equal(named, version, path);
  });

  it("has every value in its schema, and no other", () => {
    const compare = (values: object, { properties = {} }: { properties?: object }, at: string) => {
      const names = Object.keys(properties).filter((name) => name !== "global");
      assert.deepEqual(Object.keys(values).toSorted(), names.toSorted(), at);
      for (const [name, value] of Object.entries<unknown>({ ...values })) {
        const within = Object(Reflect.get(properties, name));
        const isClosed = typeof value === "object" && value !== null && "properties" in within;
        if (isClosed && name !== "resources") compare(value, within, `${at}.${name}`);
      }
    };
    compare(parse(read("deploy/helm/idsvc/values.yaml")), schema, "values");
  });

  it("names options that there are, and refuses as one of its values each that is secret or told by another", () => {
    const all = new Set<string>(Object.values(options).map(({ env }) => env));
    const told = [...read("deploy/helm/idsvc/templates/workload.yaml").matchAll(/IDSVC_[A-Z_]+/g)];
    const refused: string[] = schema.properties.options.propertyNames.not.enum;
    const ofService = refused.filter((name) => !name.startsWith("OTEL_"));
    for (const name of [...ofService, ...told.map(([each]) => each)])
      assert.ok(all.has(name.replace(/_FILE$/, "")), name);
    const secrets = Object.values(options).filter(({ type }) => "secret" in type && type.secret);
    assert.ok(secrets.length > 3);
    for (const name of [...secrets.map(({ env }) => env), ...told.map(([each]) => each)])
      assert.ok(refused.includes(name), name);
  });
});
