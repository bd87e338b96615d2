// Run: shared
import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { create, type DescService, isFieldSet } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import * as client from "../../src/client/index.ts";

const { ActionService, ErrorInfoSchema, GetTargetResponseSchema, createClient, errorReason } =
  client;
const gen = resolve(import.meta.dirname, "../../gen/idsvc");

let seen = new Headers();
let baseUrl = "";

const server = createServer(
  connectNodeAdapter({
    routes: (router: ConnectRouter) =>
      router.service(ActionService, {
        getTarget({ id }, { requestHeader }) {
          seen = requestHeader;
          if (id === "lost") throw new ConnectError("no details", Code.Unavailable);
          if (id !== "known") {
            const reason = { reason: "TARGET_NOT_FOUND", domain: "idsvc" };
            throw new ConnectError("there is no such target", Code.NotFound, undefined, [
              { desc: ErrorInfoSchema, value: reason },
            ]);
          }
          return { target: { target: { name: "audit" } } };
        },
      }),
  }),
);

before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => server.close());

describe("a call of the client", () => {
  it("answers with the message of the schema", async () => {
    const { target } = await createClient({ baseUrl }).action.getTarget({ id: "known" });
    assert.equal(target?.target?.name, "audit");
  });

  it("sends the token, the organization and the headers it was made with", async () => {
    const token = "pat_1";
    const headers = { "x-request-id": "r1" };
    await createClient({ baseUrl, token, organizationId: "o1", headers }).action.getTarget({
      id: "known",
    });
    assert.equal(seen.get("authorization"), "Bearer pat_1");
    assert.equal(seen.get("x-idsvc-orgid"), "o1");
    assert.equal(seen.get("x-request-id"), "r1");
  });

  it("sends no authorization without a token", async () => {
    await createClient({ baseUrl }).action.getTarget({ id: "known" });
    assert.equal(seen.has("authorization"), false);
  });

  it("asks a function for the token before every call", async () => {
    let asked = 0;
    const { action } = createClient({ baseUrl, token: async () => `pat_${++asked}` });
    await action.getTarget({ id: "known" });
    await action.getTarget({ id: "known" });
    assert.equal(seen.get("authorization"), "Bearer pat_2");
  });

  it("prefers what the single call sets", async () => {
    const { action } = createClient({ baseUrl, token: "pat_1", organizationId: "o1" });
    const headers = { authorization: "Bearer other", "x-idsvc-orgid": "o2" };
    await action.getTarget({ id: "known" }, { headers });
    assert.equal(seen.get("authorization"), "Bearer other");
    assert.equal(seen.get("x-idsvc-orgid"), "o2");
  });

  it("goes through the fetch it is given", async () => {
    const asked: string[] = [];
    const { action } = createClient({
      baseUrl,
      fetch(input, init) {
        asked.push(input instanceof Request ? input.url : String(input));
        return fetch(input, init);
      },
    });
    await action.getTarget({ id: "known" });
    assert.deepEqual(asked, [`${baseUrl}/${ActionService.typeName}/GetTarget`]);
  });

  it("gives up after the time it was made with", async () => {
    const forever: typeof fetch = (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(new Error("aborted")));
      });
    const { action } = createClient({ baseUrl, timeoutMs: 20, fetch: forever });
    await assert.rejects(action.getTarget({ id: "known" }), { code: Code.DeadlineExceeded });
  });
});

describe("the reason of an error", () => {
  const refusal = (id: string): Promise<unknown> =>
    createClient({ baseUrl })
      .action.getTarget({ id })
      .catch((error: unknown) => error);

  it("is the word of the refusal", async () => {
    const error = await refusal("unknown");
    assert.equal(ConnectError.from(error).code, Code.NotFound);
    assert.equal(errorReason(error), "TARGET_NOT_FOUND");
  });

  it("is undefined when the error tells none", async () => {
    assert.equal(errorReason(await refusal("lost")), undefined);
    assert.equal(errorReason(new Error("something else")), undefined);
  });
});

describe("the schema of the client", () => {
  const files = readdirSync(gen, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith("_pb.ts") && !file.startsWith("options/"))
    .sort();
  // Of unknown values: the union of all of their types is more than the compiler takes.
  const everything: Record<string, unknown> = client;
  const exported = new Set<unknown>([
    ...Object.values(everything),
    ...Object.values(client.settingsObject),
    ...Object.values(client.userSchemaResource),
    ...Object.values(client.organizationResource),
  ]);

  it("makes the messages it names", () => {
    assert.equal(
      isFieldSet(create(GetTargetResponseSchema), GetTargetResponseSchema.field.target),
      false,
    );
  });

  for (const file of files) {
    it(`exports what ${file} declares`, async () => {
      const declared: Record<string, unknown> = await import(join(gen, file));
      const missing = Object.keys(declared).filter((name) => !exported.has(declared[name]));
      assert.deepEqual(missing, []);
    });
  }

  it("has a property for each service, named after it", async () => {
    const modules = await Promise.all(
      files.map((file): Promise<Record<string, unknown>> => import(join(gen, file))),
    );
    const services = modules.flatMap((module) => Object.values(module).filter(isService));
    const names = services.map(({ name }) => {
      const short = name.replace(/Service$/, "");
      // SMTPProvider is smtpProvider.
      return short.replace(/^[A-Z]+?(?=[A-Z][a-z]|[a-z])/, (first) => first.toLowerCase());
    });
    assert.deepEqual(
      Object.keys(createClient({ baseUrl: "http://127.0.0.1" })).sort(),
      names.sort(),
    );
  });
});

const isService = (value: unknown): value is DescService =>
  typeof value === "object" && value !== null && "kind" in value && value.kind === "service";
