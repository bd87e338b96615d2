import assert from "node:assert/strict";
import type { JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { checkImportedHash } from "../../src/crypto/imported-hash.ts";
import { DomainError } from "../../src/errors.ts";
import { splitter } from "../../src/management/import/split.ts";
import { processorMs } from "../support/processor-time.ts";
import { hear } from "../support/wire.ts";
import { requireCleanPrototypes } from "./oracle.ts";
import { damaged, host, type Target } from "./target.ts";

/** Bytes on a connection that are perhaps no HTTP at all; the next call is answered. */
const wire: Target = {
  name: "wire",
  property: (peer) =>
    fc.asyncProperty(
      fc.constantFrom(
        "GET / HTTP/1.1\r\n",
        "POST /oauth/v2/token HTTP/1.1\r\nHost: a\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\x16\x03\x01",
        "",
      ),
      fc.uint8Array({ maxLength: 200 }),
      async (start, rest) => {
        const end = "\r\nConnection: close\r\n\r\n";
        const socket = hear(peer.app.port, /./s, start, rest, end);
        await Promise.race([socket, new Promise((resolve) => setTimeout(resolve, 50).unref())]);
        const answer = await peer.peer.send({
          method: "GET",
          path: "/healthz",
          headers: host(peer),
        });
        assert.equal(answer.status, 200);
      },
    ),
};

/** The body of an import is understood the same in whatever pieces it comes, or refused with a reason. */
const imports: Target = {
  name: "import-body",
  property: () =>
    fc.property(
      fc.oneof(
        fc
          .tuple(importDocument(), fc.nat(), fc.boolean())
          .map(([text, at, isCut]) => (isCut ? damaged(text, at) : text)),
        fc.string(),
      ),
      fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 10 }),
      (text, sizes) => {
        const bytes = Buffer.from(text);
        assert.deepEqual(splitIn(bytes, sizes), splitIn(bytes, []));
        requireCleanPrototypes();
      },
    ),
};

/** Hashes of other systems: any text is judged at once. */
const hashes: Target = {
  name: "hash-strings",
  property: () =>
    fc.property(
      fc.oneof(
        fc.string(),
        fc
          .tuple(
            fc.constantFrom(
              "argon2id",
              "argon2i",
              "2b",
              "2y",
              "scrypt",
              "7",
              "pbkdf2-sha256",
              "pbkdf2",
              "1",
              "apr1",
              "5",
              "6",
              "P",
              "H",
              "S",
              "md5salted-prefix",
              "",
            ),
            fc.array(
              fc.oneof(
                fc.string({ maxLength: 60 }),
                fc.base64String({ maxLength: 60 }),
                fc.constantFrom(
                  "v=19",
                  "m=1024,t=2,p=2",
                  "ln=10,r=8,p=2",
                  "rounds=5000",
                  "10",
                  "2147483648",
                  "-1",
                ),
              ),
              { maxLength: 5 },
            ),
          )
          .map(([scheme, parts]) => ["", scheme, ...parts].join("$")),
      ),
      (encoded) => {
        const start = processorMs();
        try {
          checkImportedHash(encoded, "hash");
        } catch (error) {
          assert.ok(error instanceof DomainError, String(error));
        }
        assert.ok(processorMs() - start < 500, "it is judged at once");
      },
    ),
};

export const textTargets: readonly Target[] = [wire, imports, hashes];

const importDocument = (): fc.Arbitrary<string> => {
  const record = fc.jsonValue() as fc.Arbitrary<JsonValue>;
  const lists = fc.dictionary(
    fc.constantFrom("humanUsers", "org", "projects", "project_roles", "userGrants"),
    fc.oneof(fc.array(record, { maxLength: 3 }), record),
    { maxKeys: 3 },
  );
  const org = fc.tuple(fc.string(), lists).map(([orgId, more]) => ({ orgId, ...more }));
  return fc.oneof(
    fc
      .array(org, { maxLength: 3 })
      .map((orgs) => JSON.stringify({ dataOrgs: { orgs }, timeout: "1m" })),
    fc
      .array(org, { maxLength: 3 })
      .map((orgs) => orgs.map((each) => JSON.stringify(each)).join("\n")),
  );
};

/** What the splitter gives of bytes that come in pieces of these sizes; a refusal is told by its reason. */
function splitIn(bytes: Buffer, sizes: number[]): unknown {
  const split = splitter();
  const found: unknown[] = [];
  try {
    let at = 0;
    for (const size of [...sizes, bytes.length]) {
      const chunk = bytes.subarray(at, at + size);
      at += chunk.length;
      for (const piece of split.feed(chunk)) {
        const { json: value, ...about } = piece;
        found.push({ ...about, json: Buffer.from(value).toString("utf8") });
      }
    }
    split.end();
    return found;
  } catch (error) {
    assert.ok(error instanceof DomainError, String(error));
    return error.reason;
  }
}
