// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setImmediate as nextIteration } from "node:timers/promises";
import { create, createFileRegistry, type DescService, setExtension } from "@bufbuild/protobuf";
import {
  FileDescriptorSetSchema,
  MethodOptionsSchema as ProtoMethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { method as methodOption, MethodOptionsSchema } from "#gen/idsvc/options/v1/options_pb.ts";
import { compose, newCall } from "../../src/api/call.ts";
import { createEndpoints } from "../../src/api/endpoints.ts";
import { interceptorsFor, order, type Ports } from "../../src/api/interceptors/index.ts";
import { methodRule } from "../../src/api/method-rule.ts";
import { protovalidate } from "../../src/api/validation.ts";
import type { ServiceBinding } from "../../src/authz/service.ts";
import { notFound } from "../../src/errors.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { connectPeer, messageOf, pathOf, type Protocol, protocols } from "../support/protocols.ts";
import { assertRefused, grpcRefusal } from "../support/refusal.ts";
import { hear } from "../support/wire.ts";
import { listenFor } from "./listening.ts";

const limits = { timeoutMs: 5_000, maxBodyBytes: 4 * 1024 * 1024 };
const { getTarget, deleteTarget } = ActionService.method;

/** What happened around the calls, in order; each part of the service writes its name. */
const happened: string[] = [];
const note = <T>(name: string, value: T): T => {
  happened.push(name);
  return value;
};
let failure: Error | undefined;
let beforeChange: Ports["beforeChange"];

const binding: ServiceBinding = {
  service: ActionService,
  handlers: Object.fromEntries(
    ActionService.methods.map(({ localName }) => [
      localName,
      async () => {
        happened.push("handler");
        if (failure !== undefined) throw failure;
        return {};
      },
    ]),
  ),
  authorize: { getTarget: async () => note("authorize", undefined) },
};

const refused: string[] = [];
const spent: string[] = [];
// They may not write executions: who may is not subject to them here.
const roles = ["IAM_OWNER_VIEWER"];
const memberships = [{ contextType: "instance", contextId: "i1", roles }] as const;
const ports: Ports = {
  instances: {
    byDomain: () => note("instance", { id: "i1", isBlocked: false }),
    byId: () => undefined,
  },
  organizations: {
    byId: (_, id) => note("organization", { id, state: "active" }),
    byDomain: () => undefined,
  },
  memberships: { ofUser: () => note("memberships", memberships as never) },
  powers: {
    ofUser: () => assert.fail("GetTarget holds nobody"),
    holdUser: () => assert.fail("GetTarget holds nobody"),
    holdOrganization: () => assert.fail(),
    ofOrganization: () => assert.fail("GetTarget holds nobody"),
  },
  registrations: { openFor: () => assert.fail("GetTarget is nobody's registration") },
  stepUp: { require: () => assert.fail("GetTarget changes nobody's ways to log in") },
  features: { isOn: () => note("feature", true) },
  browserTokens: () => undefined,
  tracing: undefined,
  tokens: [
    async (token) =>
      note(
        "authenticate",
        token === "right"
          ? { kind: "user", userId: "u1", organizationId: "o1", tokenKind: "pat" }
          : undefined,
      ),
  ],
  limitRate: () => note("rateLimit", undefined),
  beforeChange: () => beforeChange?.(),
  executions: { of: () => () => note("executions", undefined) },
  validator: protovalidate,
  noteRefusal: ({ reason }) => void refused.push(reason),
  budgets: { spend: (budget) => void spent.push(budget) },
  usage: { require: () => undefined, count: () => undefined },
  slowDown: async () => assert.fail("no budget is spent"),
  showAddress: () => undefined,
  logger: silentLogger(),
  metrics: createMetrics({ methods: new Map(), eventTypes: [] }),
  externalUrl: new URL("http://localhost"),
};

const { signal: stopping } = new AbortController();
const endpoints = createEndpoints([binding], ports, limits, stopping);
const listening = await listenFor({ endpoints });
const peer = connectPeer(listening.port);
after(async () => {
  peer[Symbol.dispose]();
  await listening.stop(1000);
});

const ask = async (request: { id: string }, token: string, protocol: Protocol) => {
  happened.length = 0;
  const headers = { "x-idsvc-orgid": "o1" };
  return peer.call(protocol, getTarget, request, { token, headers });
};

describe("the steps around a call", () => {
  it("stand in this order", () => {
    assert.deepEqual(
      order.map(([name]) => name),
      [
        "telemetry",
        "errors",
        "deadline",
        "spread",
        "instance",
        "authenticate",
        "rateLimit",
        "decode",
        "actingFor",
        "sessionPolicy",
        "organization",
        "feature",
        "permission",
        "validate",
        "precondition",
        "authorize",
        "stepUp",
        "holds",
        "executions",
      ],
    );
  });

  for (const protocol of protocols) {
    it(`run once a call in that order, over ${protocol}`, async () => {
      messageOf(await ask({ id: "1" }, "right", protocol));
      assert.deepEqual(happened, [
        "instance",
        "authenticate",
        "memberships",
        "rateLimit",
        "organization",
        "feature",
        "authorize",
        "executions",
        "handler",
      ]);
    });

    it(`begin for what changes something when it has its place, over ${protocol}`, async () => {
      happened.length = 0;
      const [waits, place] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      beforeChange = () => {
        waits.resolve();
        return note("spread", place.promise);
      };
      const called = peer.call(protocol, deleteTarget, { id: "1" }, { token: "wrong" });
      await waits.promise;
      await nextIteration();
      assert.deepEqual(happened, ["spread"]);
      beforeChange = undefined;
      place.resolve();
      assertRefused(await called, { code: 16, reason: "TOKEN_INVALID" });
      assert.deepEqual(happened, ["spread", "instance", "authenticate"]);
    });

    it(`take from the budget of strangers what nobody is known to have asked, over ${protocol}`, async () => {
      for (const [token, expected] of [
        ["right", []],
        ["wrong", ["unauthenticated"]],
      ] as const) {
        spent.length = 0;
        failure = notFound("TARGET_NOT_FOUND", "no such target");
        await ask({ id: "1" }, token, protocol).finally(() => (failure = undefined));
        assert.deepEqual(spent, expected);
      }
    });

    it(`end at the first that refuses, over ${protocol}`, async () => {
      const stranger = await ask({ id: "1" }, "wrong", protocol);
      assertRefused(stranger, { code: 16, reason: "TOKEN_INVALID" });
      assert.deepEqual(happened, ["instance", "authenticate"]);
      const invalid = await ask({ id: "x".repeat(201) }, "right", protocol);
      assertRefused(invalid, { code: 3, reason: "VALIDATION_FAILED", field: "id" });
      assert.deepEqual(happened, [
        "instance",
        "authenticate",
        "memberships",
        "rateLimit",
        "organization",
        "feature",
      ]);
    });

    it(`let nothing out of an unforeseen error but a request id, over ${protocol}`, async () => {
      failure = new Error("the password is hunter2", { cause: new Error("SELECT secret") });
      try {
        const refusal = await ask({ id: "1" }, "right", protocol);
        assertRefused(refusal, { code: 13, reason: "INTERNAL" });
        assert.match(refusal.metadata["request_id"] ?? "", /^[\w-]{8,}$/);
        assert.ok(refusal.message.includes(refusal.metadata["request_id"] ?? "?"));
        assert.doesNotMatch(JSON.stringify(refusal), /hunter2|SELECT|\.ts/);
        if (refusal.httpStatus !== undefined) assert.equal(refusal.httpStatus, 500);
      } finally {
        failure = undefined;
      }
    });
  }

  it("leave out what a method has no need of", () => {
    const rule = { ...methodRule(getTarget, limits), access: "public" as const, feature: "" };
    const bare = { ...binding, authorize: {} };
    const { executions: _, ...without } = ports;
    assert.equal(interceptorsFor(without, bare, rule).length, order.length - 12);
    assert.equal(
      interceptorsFor(
        ports,
        { ...binding, authorize: { patchTarget: async () => {} } },
        {
          ...methodRule(ActionService.method.patchTarget, limits),
          holds: "everybody" as const,
          stepUp: true,
          sessionActs: true,
        },
      ).length,
      order.length,
    );
  });

  it("are composed outermost first", async () => {
    const seen: string[] = [];
    const step = (name: string) => async (_: unknown, next: () => Promise<never>) => {
      seen.push(`${name} in`);
      const message = await next();
      seen.push(`${name} out`);
      return message;
    };
    const run = compose([step("a"), step("b")] as never, async () => {
      seen.push("work");
      return {} as never;
    });
    await run(newCall(methodRule(getTarget, limits), {} as never));
    assert.deepEqual(seen, ["a in", "b in", "work", "b out", "a out"]);
  });
});

describe("authentication", () => {
  const huge = `content-type: application/json\r\ncontent-length: 4000000\r\nhost: localhost\r\n`;
  const post = `POST /resources/v3alpha/targets HTTP/1.1\r\n${huge}`;
  // What is answered here is answered without the body, which is never sent.
  const heardOf = (request: string) =>
    hear(listening.port, /^HTTP\/1\.1 [2-5].*\r\n\r\n/ms, request);

  it("happens before the body is read: a stranger is refused while they have sent headers only", async () => {
    for (const header of ["", "authorization: Bearer wrong\r\n"]) {
      const heard = await heardOf(`${post}${header}\r\n`);
      assert.match(heard, /^HTTP\/1\.1 401 /);
      assert.match(heard, /www-authenticate: Bearer/i);
    }
  });

  it("does not ask a stranger for the body that they announce", async () => {
    const heard = await heardOf(`${post}expect: 100-continue\r\n\r\n`);
    assert.match(heard, /HTTP\/1\.1 401 /);
    assert.doesNotMatch(heard, /100 Continue/);
  });

  it("goes before the size of the body, which a known caller hears of", async () => {
    const announced = post.replace("4000000", "5000000000");
    assert.match(await heardOf(`${announced}\r\n`), /^HTTP\/1\.1 401 /);
    assert.match(
      await heardOf(`${announced}authorization: Bearer right\r\n\r\n`),
      /^HTTP\/1\.1 413 /,
    );
  });

  it("happens before the message of a gRPC call is read", async () => {
    const { headers } = await peer.send({
      version: 2,
      path: pathOf(getTarget),
      headers: { "content-type": "application/grpc", authorization: "Bearer wrong" },
      body: Buffer.from([0, 0, 0x10, 0, 0, 1]),
    });
    assertRefused(grpcRefusal(headers), { code: 16, reason: "TOKEN_INVALID" });
  });
});

describe("the start", () => {
  /** A service with one method that has these options. */
  function serviceWith(permission: string | undefined, systemPermission = ""): DescService {
    const options = create(ProtoMethodOptionsSchema);
    if (permission !== undefined) {
      const told = create(MethodOptionsSchema, { permission, systemPermission });
      setExtension(options, methodOption, told);
    }
    const method = { name: "Do", inputType: ".t.Empty", outputType: ".t.Empty", options };
    const file = {
      name: "t.proto",
      package: "t",
      syntax: "proto3",
      messageType: [{ name: "Empty" }],
      service: [{ name: "TestService", method: [method] }],
    };
    const set = create(FileDescriptorSetSchema, { file: [file] });
    const found = createFileRegistry(set).getService("t.TestService");
    assert.ok(found);
    return found;
  }
  const start = (described: DescService, handlers: ServiceBinding["handlers"]) =>
    createEndpoints([{ service: described, handlers, authorize: {} }], ports, limits, stopping);
  const handlers = { do: async () => ({}) };

  it("succeeds for a method that states a permission of a role", () => {
    for (const permission of ["public", "authenticated", "action.target.read"]) {
      const [endpoint] = start(serviceWith(permission), handlers);
      assert.equal(endpoint?.rule.path, "/t.TestService/Do");
      assert.equal(endpoint.rule.permission, permission);
    }
  });

  it("fails for a method that states no permission, naming it", () => {
    for (const permission of [undefined, ""]) {
      assert.throws(() => start(serviceWith(permission), handlers), {
        message: /\/t\.TestService\/Do states no permission.*permission/,
      });
    }
  });

  it("fails for a method that asks for a permission no role gives, naming both", () => {
    assert.throws(() => start(serviceWith("action.target.fly"), handlers), {
      message: /\/t\.TestService\/Do asks for action\.target\.fly/,
    });
    assert.throws(() => start(serviceWith("iam.read", "system.fly"), handlers), {
      message: /\/t\.TestService\/Do asks for system\.fly/,
    });
  });

  it("fails for a method without a handler, naming it", () => {
    assert.throws(() => start(serviceWith("public"), {}), {
      message: /\/t\.TestService\/Do has no handler/,
    });
  });
});
