// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { engine } from "../support/app.ts";
import { beside } from "../support/beside.ts";
import { paths, startOidc } from "../support/oidc.ts";

const lines: string[] = [];
const service = await startOidc({ log: (line) => void lines.push(line) });
after(() => service[Symbol.asyncDispose]());
const { kernel, url } = service.app;

// PostgreSQL says what is missing so that a replica of another build can be told from a defect.
const expected =
  engine === "postgres"
    ? { status: 503, error: "temporarily_unavailable", phrase: "UNAVAILABLE" }
    : { status: 500, error: "server_error", phrase: "INTERNAL" };

describe("where the store cannot be asked which instance a host belongs to", () => {
  before(() => beside(kernel, "ALTER TABLE instance_domains RENAME TO instance_domains_away"));
  after(() => beside(kernel, "ALTER TABLE instance_domains_away RENAME TO instance_domains"));

  /** The status of the line of the log, which is that of the answer. */
  const assertLogged = (answer: Response, path: string) => {
    const logged = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "request");
    const id = answer.headers.get("x-request-id");
    const [line] = logged.filter(({ requestId }) => requestId === id);
    assert.deepEqual([line?.path, line?.status], [path, answer.status]);
  };

  for (const [path, method] of [
    [paths.token, "POST"],
    [paths.introspect, "POST"],
    [paths.revoke, "POST"],
    [paths.userinfo, "GET"],
    [paths.keys, "GET"],
    [paths.device, "POST"],
    [paths.discovery, "GET"],
  ] as const)
    it(`${method} ${path} tells it in the words of OAuth`, async () => {
      const answer = await fetch(`${url}${path}`, { method });
      const body = Object(await answer.json());
      assert.deepEqual([answer.status, body.error], [expected.status, expected.error]);
      assert.equal(body.code, undefined);
      assert.doesNotMatch(JSON.stringify(body), /instance_domains|SQL|relation|table/i);
      if (expected.status === 503) assert.match(answer.headers.get("retry-after") ?? "", /^\d+$/);
      assertLogged(answer, path);
    });

  for (const path of ["/oauth/v2/authorize", "/oidc/v1/end_session", "/ui/login/password"])
    it(`GET ${path} shows a page`, async () => {
      const answer = await fetch(`${url}${path}`, { redirect: "manual" });
      const page = await answer.text();
      assert.equal(answer.status, expected.status);
      assert.match(answer.headers.get("content-type") ?? "", /^text\/html/);
      assert.ok(page.includes(`data-error="${expected.phrase}"`), page.slice(0, 500));
      assert.ok(page.includes(answer.headers.get("x-request-id") ?? "?"));
      assert.doesNotMatch(page, /instance_domains|SQL|relation/i);
    });
});
