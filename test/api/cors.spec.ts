// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  AppService,
  GetAppRequestSchema,
  GetAppResponseSchema,
} from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { crossOrigin } from "../../src/api/cors.ts";
import { startAppPeer } from "../resources/app/app-peer.ts";
import { bodyOf } from "../support/peer.ts";
import { pathOf } from "../support/protocols.ts";
import { countModule } from "../support/stream-service.ts";
import { framed, type RawRequest } from "../support/wire.ts";
import { addSecondInstance } from "./abuse.ts";

const service = await startAppPeer({ moreModules: [countModule({ opened: 0, closed: 0 })] });
const { app, peer, post, patch, remove, addApp, addProject, addOrganization } = service;
after(() => service[Symbol.asyncDispose]());

const rp = "https://rp.test";
const shop = await addApp({
  oidc: {
    redirect_uris: [`${rp}/callback`, "https://rp.test:8443/", "com.example.app:/callback"],
    post_logout_redirect_uris: ["https://after-logout.test/"],
    additional_origins: ["https://spa.test", "capacitor://localhost"],
  },
});
const authorization = `Bearer ${app.token}`;
const versions = [1, 2] as const;
const rest = `/resources/v3alpha/apps/${shop.id}`;
const rpc = pathOf(AppService.method.getApp);

const corsOf = (headers: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith("access-control-")),
  );
const preflight = (origin: string, path: string, more: Partial<RawRequest> = {}) =>
  peer.send({
    method: "OPTIONS",
    path,
    ...more,
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,x-idsvc-orgid",
      ...more.headers,
    },
  });
const read = (origin: string, more: Partial<RawRequest> = {}) =>
  peer.send({
    method: "GET",
    path: rest,
    ...more,
    headers: { origin, authorization, ...more.headers },
  });
const isAllowed = async (origin: string, headers = {}) => {
  const { headers: told } = await read(origin, { headers });
  const allowed = told["access-control-allow-origin"];
  assert.ok(allowed === undefined || allowed === origin, allowed);
  assert.equal(told["vary"], "origin");
  return allowed === origin;
};

describe("a preflight from the origin of an active app", () => {
  const asked: [string, string][] = [
    [rpc, "POST"],
    [rest, "DELETE, GET, PATCH"],
    ["/resources/v3alpha/apps", "POST"],
  ];
  for (const [path, methods] of asked) {
    for (const version of versions) {
      it(`is allowed ${methods} at ${path.replace(shop.id, "{id}")}, over HTTP/${version}`, async () => {
        const { status, headers, body } = await preflight(rp, path, { version });
        assert.deepEqual([status, body.length], [204, 0]);
        const { "access-control-allow-headers": allowed = "", ...cors } = corsOf(headers);
        assert.deepEqual(cors, {
          "access-control-allow-origin": rp,
          "access-control-allow-methods": methods,
          "access-control-max-age": "600",
        });
        const names = new Set(allowed.split(", "));
        for (const name of [
          "authorization",
          "content-type",
          "x-idsvc-orgid",
          "grpc-timeout",
          "x-grpc-web",
          "x-user-agent",
          "connect-protocol-version",
          "connect-timeout-ms",
        ]) {
          assert.ok(names.has(name), name);
        }
        assert.equal(headers["vary"], "origin");
      });
    }
  }

  it("needs no token, and an OPTIONS that asks for nothing is none", async () => {
    const plain = await peer.send({ method: "OPTIONS", path: rest, headers: { origin: rp } });
    assert.equal(plain.status, 405);
    assert.equal(plain.headers["access-control-allow-origin"], rp);
  });
});

describe("a call from the origin of an active app", () => {
  const exposed = ["grpc-status", "grpc-message", "grpc-status-details-bin", "www-authenticate"];
  const assertOpen = (headers: Record<string, string>) => {
    assert.equal(headers["access-control-allow-origin"], rp);
    assert.equal(headers["access-control-allow-credentials"], undefined);
    const names = headers["access-control-expose-headers"]?.split(", ") ?? [];
    for (const name of exposed) assert.ok(names.includes(name), name);
  };
  const id = { id: shop.id };
  const request = toBinary(GetAppRequestSchema, { $typeName: GetAppRequestSchema.typeName, ...id });

  for (const version of versions) {
    it(`is answered so that the page can read it, over HTTP/${version}`, async () => {
      const found = await read(rp, { version });
      assert.equal(found.status, 200);
      assertOpen(found.headers);
      const call = (type: string, body: Uint8Array | string) =>
        peer.send({
          version,
          path: rpc,
          headers: { origin: rp, authorization, "content-type": type },
          body,
        });
      const connect = await call("application/json", JSON.stringify(id));
      assert.equal(connect.status, 200);
      assertOpen(connect.headers);
      const web = await call("application/grpc-web+proto", framed(request));
      assertOpen(web.headers);
      const length = web.body.readUInt32BE(1);
      const message = fromBinary(GetAppResponseSchema, web.body.subarray(5, 5 + length));
      assert.equal(message.app?.clientId, shop.clientId);
    });

    it(`can read refusals too, over HTTP/${version}`, async () => {
      const noToken = await read(rp, { version, headers: { authorization: "Bearer wrong" } });
      assert.equal(noToken.status, 401);
      assertOpen(noToken.headers);
      const unknown = await read(rp, { version, path: "/resources/v3alpha/apps/404" });
      assert.equal(unknown.status, 404);
      assertOpen(unknown.headers);
      const notServed = await read(rp, { version, method: "PUT" });
      assert.equal(notServed.status, 405);
      assertOpen(notServed.headers);
    });
  }

  it("can read a stream", async () => {
    for (const version of versions) {
      const counted = await read(rp, { version, path: "/test/count/2" });
      assert.equal(counted.body.toString().trim().split("\n").length, 2);
      assertOpen(counted.headers);
    }
  });

  it("comes from its redirects, and from what it names beside them", async () => {
    for (const origin of ["https://rp.test:8443", "https://spa.test", "capacitor://localhost"]) {
      assert.equal(await isAllowed(origin), true, origin);
    }
  });
});

describe("a call from any other origin", () => {
  const origins = [
    "https://evil.test",
    "null",
    "https://rp.test.evil.test",
    "http://rp.test",
    "*",
    "https://sub.rp.test",
    "https://rp.test:444",
    "https://rp.test/",
    "HTTPS://RP.TEST",
    "https://after-logout.test",
    "com.example.app://",
    "https://spa.tes",
    "",
    `${rp}, https://evil.test`,
    `https://${"x".repeat(2_000)}.test`,
  ];
  for (const origin of origins) {
    it(`D79: gets no header that allows it, nor does its preflight: ${origin.slice(0, 40)}`, async () => {
      for (const version of versions) {
        const called = await read(origin, { version });
        assert.deepEqual([called.status, corsOf(called.headers)], [200, {}]);
        for (const path of [rest, rpc]) {
          const asked = await preflight(origin, path, { version });
          assert.deepEqual([asked.status, corsOf(asked.headers)], [405, {}]);
        }
      }
    });
  }

  it("D79: gets none for two Origin headers, one of which is allowed", async () => {
    for (const both of [
      [rp, "https://evil.test"],
      ["https://evil.test", rp],
    ]) {
      const { headers } = await peer.send({
        method: "GET",
        path: rest,
        headers: { origin: both, authorization },
      });
      assert.deepEqual(corsOf(headers), {});
    }
  });

  it("D79: gets none where no calls are served, even when it is allowed", async () => {
    for (const path of ["/healthz", "/metrics", "/openapi.json", "/nothing"]) {
      for (const method of ["GET", "OPTIONS"]) {
        const headers = { origin: rp, "access-control-request-method": "GET" };
        const answer = await peer.send({ method, path, headers });
        assert.deepEqual(corsOf(answer.headers), {}, path);
      }
    }
  });

  it("is not looked for when it is longer than any that an app can name", async () => {
    const asked: string[] = [];
    const isAllowedOrigin = (_: string, origin: string) => asked.push(origin) > 0;
    const instances = { byDomain: () => ({ id: "1", isBlocked: false }), byId: () => undefined };
    const allows = crossOrigin(instances, { isAllowedOrigin });
    const ofLength = (length: number) => `https://${"x".repeat(length - 8)}`;
    const at = { host: "localhost" };
    assert.equal(await allows(at, ofLength(1_000)), true);
    assert.equal(await allows(at, ofLength(1_001)), false);
    assert.deepEqual(asked, [ofLength(1_000)]);
  });

  it("gets none in another instance, nor at a host of none", async () => {
    const { host, token } = await addSecondInstance(app, "cors.test");
    const there = { host, authorization: `Bearer ${token}` };
    assert.equal(await isAllowed(rp, there), false);
    assert.equal(await isAllowed(rp, { host: "unknown.test" }), false);
    assert.equal(await isAllowed(rp), true);
  });
});

describe("an origin of an app", () => {
  const named = (origin: string) => ({ oidc: { additional_origins: [origin] } });

  it("D36: counts no longer once the app, its project or its organization is inactive", async () => {
    const organization = await addOrganization();
    const project_id = await addProject(organization);
    const origin = "https://comes-and-goes.test";
    const { id } = await addApp({ project_id, ...named(origin) });
    assert.equal(await isAllowed(origin), true);
    for (const path of [
      `/apps/${id}`,
      `/projects/${project_id}`,
      `/organizations/${organization}`,
    ]) {
      bodyOf(await post(`${path}/_deactivate`));
      assert.equal(await isAllowed(origin), false, path);
      bodyOf(await post(`${path}/_activate`));
      assert.equal(await isAllowed(origin), true, path);
    }
    bodyOf(await remove(`/projects/${project_id}`));
    assert.equal(await isAllowed(origin), false);
  });

  it("counts from the patch that names it to the one that does not", async () => {
    const origin = "https://patched.test";
    const { id } = await addApp();
    assert.equal(await isAllowed(origin), false);
    const uris = { redirect_uris: [`${origin}/a`, `${origin}/b`] };
    for (const [naming, dropping] of [
      [{ additional_origins: [origin] }, { clear: ["additional_origins"] }],
      [uris, { redirect_uris: ["https://other.test/"] }],
    ]) {
      bodyOf(await patch(`/apps/${id}`, { oidc: naming ?? {} }));
      assert.equal(await isAllowed(origin), true);
      bodyOf(await patch(`/apps/${id}`, { oidc: dropping ?? {} }));
      assert.equal(await isAllowed(origin), false);
    }
  });

  it("counts as long as another active app names it", async () => {
    const origin = "https://shared.test";
    const [one, other] = [await addApp(named(origin)), await addApp(named(origin))];
    bodyOf(await remove(`/apps/${one.id}`));
    assert.equal(await isAllowed(origin), true);
    bodyOf(await post(`/apps/${other.id}/_deactivate`));
    assert.equal(await isAllowed(origin), false);
  });
});
