// Run: shared
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import {
  create,
  createRegistry,
  type DescField,
  type DescMessage,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { reflect, type ReflectMap } from "@bufbuild/protobuf/reflect";
import { createValidator } from "@bufbuild/protovalidate";
import fc from "fast-check";
import { RE2JS } from "re2js";
import {
  ActionService,
  CreateTargetRequestSchema,
  GetTargetRequestSchema,
} from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { file_idsvc_options_v1_options } from "#gen/idsvc/options/v1/options_pb.ts";
import {
  ImportedHumanSchema,
  ImportedOidcAppSchema,
  ImportedOrgMemberSchema,
} from "#gen/idsvc/management/v1/data_pb.ts";
import { ManagementService } from "#gen/idsvc/management/v1/management_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import {
  CreateSessionRequestSchema,
  SessionService,
} from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { SessionSchema } from "#gen/idsvc/resources/session/v3alpha/session_pb.ts";
import { FeatureService } from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
import { compilePrecheck } from "../../src/api/precheck.ts";
import { matchesPattern, requireValid } from "../../src/api/validation.ts";
import { DomainError } from "../../src/errors.ts";

const validator = createValidator({ registry: createRegistry(file_idsvc_options_v1_options) });
const requests: DescMessage[] = [
  ...[ActionService, FeatureService, ManagementService, SessionService, UserService].flatMap(
    ({ methods }) => methods.map(({ input }): DescMessage => input),
  ),
  ImportedHumanSchema,
  ImportedOidcAppSchema,
  ImportedOrgMemberSchema,
];

// A small generator of its own, with a seed: a find repeats itself.
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % below;
  };
}

const texts = [
  "",
  "a",
  "Ä",
  "😀",
  "x".repeat(200),
  "x".repeat(201),
  "😀".repeat(150),
  "https://x.test/",
  " a",
  "a\u0000",
  "ada@example.test",
  "ada@example",
  "a@b@c.test",
  "JBSWY3DPEHPK3PXP",
  "JBSWY3DPEHPK3PXP====",
  "de-CH",
  "30m",
];

function randomMessage(type: DescMessage, random: (below: number) => number, depth = 0): Message {
  const message = create(type);
  const fields = reflect(type, message);
  for (const field of type.fields) {
    if (random(3) === 0 || depth > 5) continue;
    if (field.fieldKind === "map") {
      if (field.scalar === ScalarType.BYTES) fillMap(fields.get(field), random);
      continue;
    }
    const values = field.fieldKind === "list" ? random(4) : 1;
    for (let count = 0; count < values; count++) {
      const value = randomValue(field, random, depth);
      if (value === undefined) continue;
      if (field.fieldKind === "list") fields.get(field).add(value);
      else fields.set(field, value);
    }
  }
  return message;
}

function fillMap(map: ReflectMap, random: (below: number) => number): void {
  const count = [0, 1, 3, 99, 100, 101][random(6)] ?? 0;
  for (let at = 0; at < count; at++) {
    const key = random(20) === 0 ? (texts[random(texts.length)] ?? "") : `key ${at}`;
    map.set(key, new Uint8Array(random(50) === 0 ? 10_000 + random(2) : random(3)));
  }
}

function randomValue(field: DescField, random: (below: number) => number, depth: number): unknown {
  if (field.message !== undefined) {
    return reflect(field.message, randomMessage(field.message, random, depth + 1));
  }
  if (field.enum !== undefined) return random(5) - 1 + (random(9) === 0 ? 90 : 1);
  switch (field.scalar) {
    case ScalarType.STRING:
      return texts[random(texts.length)];
    case ScalarType.BOOL:
      return random(2) === 1;
    case ScalarType.UINT64:
      return BigInt(random(3));
    case ScalarType.INT64:
      return BigInt(random(400)) - 20n;
    case ScalarType.UINT32:
    case ScalarType.INT32:
      return random(3);
    default:
      return undefined;
  }
}

describe("the precheck", () => {
  it("vouches only for messages that the validator finds valid too", () => {
    let vouched = 0;
    for (let seed = 1; seed <= 20_000; seed++) {
      const random = randomFrom(seed);
      const type = requests[random(requests.length)] ?? assert.fail();
      const message = randomMessage(type, random);
      if (!compilePrecheck(type)(message)) continue;
      vouched += 1;
      const { kind } = validator.validate(type, message);
      assert.equal(kind, "valid", `seed ${seed}, ${type.typeName}`);
    }
    assert.ok(vouched > 1000, `only ${vouched} messages were vouched for`);
  });

  it("lets a plain read pass without the validator", () => {
    const request = create(GetTargetRequestSchema, { id: "1" });
    assert.equal(compilePrecheck(GetTargetRequestSchema)(request), true);
  });

  it("lets a session with metadata pass without the validator", () => {
    const request = create(CreateSessionRequestSchema, {
      session: { metadata: { device: new Uint8Array(10_000) } },
    });
    assert.equal(compilePrecheck(CreateSessionRequestSchema)(request), true);
    request.session = create(SessionSchema, { metadata: { device: new Uint8Array(10_001) } });
    assert.equal(compilePrecheck(CreateSessionRequestSchema)(request), false);
  });

  it("lets a plain person of an import pass without the validator", () => {
    const person = create(ImportedHumanSchema, {
      userId: "1",
      user: {
        userName: "ada",
        profile: { firstName: "Ada", lastName: "Lovelace", preferredLanguage: "de-CH" },
        email: { email: "ada.l@mail.example.test", isEmailVerified: true },
        hashedPassword: { value: "$2b$10$abc" },
        otpCode: "JBSWY3DPEHPK3PXP",
      },
      orgRoles: ["ORG_OWNER"],
    });
    assert.equal(compilePrecheck(ImportedHumanSchema)(person), true);
    const twice = create(ImportedHumanSchema, { ...person, orgRoles: ["A", "A"] });
    assert.equal(compilePrecheck(ImportedHumanSchema)(twice), false);
  });
});

describe("a request that breaks rules of the schema", () => {
  it("is refused with every field and the rule it breaks", () => {
    const request = create(CreateTargetRequestSchema, { target: { name: "" } });
    assert.throws(
      () => requireValid(() => validator, CreateTargetRequestSchema)(request),
      (error) => {
        assert.ok(error instanceof DomainError);
        assert.deepEqual([error.kind, error.reason], ["invalidArgument", "VALIDATION_FAILED"]);
        const fields = error.violations.map(({ field }) => field);
        assert.deepEqual(fields.toSorted(), ["target.name", "target.target_type"]);
        return true;
      },
    );
  });
});

const quoted = '"((?:[^"\\\\]|\\\\.)*)"';
const unescaped = (text: string): string => text.replaceAll(/\\(.)/g, "$1");

/** Every pattern of the schema, read from its sources. */
function patternsOfSchema(): string[] {
  const root = resolve(import.meta.dirname, "../..");
  const found = globSync("proto/**/*.proto", { cwd: root }).flatMap((file) => {
    const source = readFileSync(join(root, file), "utf8");
    const rules = [...source.matchAll(new RegExp(`pattern\\s*:\\s*${quoted}`, "g"))];
    const inCel = [...source.matchAll(/\.matches\('((?:[^'\\]|\\.)*)'\)/g)];
    return [
      ...rules.map(([, text = ""]) => unescaped(text)),
      ...inCel.map(([, text = ""]) => unescaped(unescaped(text))),
    ];
  });
  return [...new Set(found)];
}

describe("a pattern of the schema", () => {
  it("means the same to the service as to RE2, with which generated clients read it", () => {
    const all = patternsOfSchema();
    assert.ok(all.length >= 15, `${all.length} patterns are found`);
    // Of what patterns are made, and of anything at all.
    const text = fc.oneof(
      fc.string({
        unit: fc.constantFrom(
          ...Array.from(" -+=._:/#aZ09éſKß\t\r\n\u000b\u0085\u200b\u2028\ufeff😀"),
        ),
      }),
      fc.string({ unit: "binary" }),
      fc
        .tuple(fc.constantFrom("https://", "LDAPS://", "HTTPſ://", "+49", "de-CH"), fc.string())
        .map((parts) => parts.join("")),
    );
    for (const pattern of all) {
      const re2 = RE2JS.compile(pattern);
      fc.assert(
        fc.property(text, (each) =>
          assert.equal(matchesPattern(pattern, each), re2.matcher(each).find(), pattern),
        ),
        { seed: 1, numRuns: 500 },
      );
    }
  });
});
