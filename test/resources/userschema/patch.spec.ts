// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { patchedData, readableData } from "../../../src/resources/userschema/data.ts";
import { refusalOf, schemaOf } from "./schemas.ts";

const invalid = (...fields: string[]) => ({ code: 3, reason: "USER_DATA_INVALID", fields });
const readOnly = { code: 7, reason: "USER_DATA_READ_ONLY", fields: [] };
const permission = "urn:idsvc:schema:permission";

describe("a patch of data (RFC 7396)", () => {
  const schema = schemaOf({
    properties: { n: { type: ["string", "null"] }, i: { type: "integer" } },
  });
  const rows: [before: JsonObject, patch: JsonObject, after: JsonObject][] = [
    [{ a: 1, b: 2 }, { a: 3 }, { a: 3, b: 2 }],
    [{ a: 1, b: 2 }, {}, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { a: null }, { b: 2 }],
    [{ b: 2 }, { a: null }, { b: 2 }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: { b: 1, c: 2 } }, { a: { b: null, d: { e: 1, f: null } } }, { a: { c: 2, d: { e: 1 } } }],
    [{ a: "x" }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    [{ a: { b: 1 } }, { a: "x" }, { a: "x" }],
    [{ a: 1 }, { a: [null, { b: null }] }, { a: [null, { b: null }] }],
    // What stood there before stays, also what a patch cannot bring.
    [{ n: null, i: 1 }, { i: 2 }, { n: null, i: 2 }],
    [{ n: null }, { n: null }, {}],
  ];
  for (const [before, patch, after] of rows) {
    it(`${JSON.stringify(patch)} makes of ${JSON.stringify(before)} ${JSON.stringify(after)}`, () => {
      const untouched = structuredClone(before);
      assert.deepEqual(patchedData(schema, before, patch, "owner"), after);
      assert.deepEqual(before, untouched);
    });
  }

  it("is refused where what comes of it does not fit", () => {
    const strict = schemaOf({ properties: { a: {}, b: {} }, required: ["a"] });
    assert.deepEqual(
      refusalOf(() => patchedData(strict, { a: 1 }, { a: null }, "owner")),
      invalid("user.data.a"),
    );
    assert.deepEqual(
      refusalOf(() => patchedData(schema, { i: 1 }, { i: "x" }, "owner")),
      invalid("user.data.i"),
    );
    for (const name of ["__proto__", "constructor"]) {
      const patch = JSON.parse(`{"${name}": {"polluted": true}}`) as JsonObject;
      assert.deepEqual(
        refusalOf(() => patchedData(schema, {}, patch, "owner")),
        invalid(`user.data.${name}`),
      );
    }
    assert.equal(Reflect.get({}, "polluted"), undefined);
  });
});

describe("who may write", () => {
  const schema = schemaOf({
    properties: {
      plain: {},
      mine: { [permission]: { owner: "r", self: "rw" } },
      theirs: { [permission]: { owner: "rw" } },
      address: {
        [permission]: { owner: "rw", self: "rw" },
        properties: { city: {}, proven: { [permission]: { owner: "rw", self: "r" } } },
      },
    },
  });
  const write = (as: "owner" | "self", patch: JsonObject, previous: JsonObject = {}) =>
    patchedData(schema, previous, patch, as);

  it("without the keyword is the owner; the user may read", () => {
    write("owner", { plain: 1, other: 2 });
    write("self", { plain: { a: 1, b: [1] } }, { plain: { b: [1], a: 1 } });
    for (const data of [{ plain: 2 }, { plain: null }, { plain: 1, other: 1 }]) {
      assert.deepEqual(
        refusalOf(() => write("self", data, { plain: 1 })),
        readOnly,
      );
    }
  });

  it("is who the keyword names, for new, changed and removed values", () => {
    write("self", { mine: 1 });
    assert.deepEqual(write("self", { mine: null }, { mine: 1 }), {});
    write("owner", { mine: 1 }, { mine: 1 });
    assert.deepEqual(
      refusalOf(() => write("owner", { mine: 1 })),
      readOnly,
    );
    assert.deepEqual(
      refusalOf(() => write("owner", { mine: 2 }, { mine: 1 })),
      readOnly,
    );
    assert.deepEqual(
      refusalOf(() => write("owner", { mine: null }, { mine: 1 })),
      readOnly,
    );
    assert.deepEqual(
      refusalOf(() => write("self", { theirs: 1 })),
      readOnly,
    );
  });

  it("is decided by the properties of an object where the schema names them", () => {
    const before = { address: { city: "a", proven: true } };
    write("self", { address: { city: "b", proven: true } }, before);
    write("self", { address: { city: "b" } });
    for (const address of [{ city: "a", proven: false }, { city: "a", proven: null }, null, "a"]) {
      assert.deepEqual(
        refusalOf(() => write("self", { address }, before)),
        readOnly,
      );
    }
    assert.deepEqual(write("self", { address: null }, { address: { city: "a" } }), {});
  });

  it("is refused whatever stands there where they may not read it, so that no guess is confirmed", () => {
    const before = { theirs: 1, mine: 2 };
    for (const theirs of [1, 2, "1", null, {}]) {
      for (const previous of [before, { mine: 2 }]) {
        assert.throws(() => write("self", { mine: 3, theirs }, previous), {
          reason: "USER_DATA_READ_ONLY",
          metadata: { field: "user.data.theirs" },
        });
      }
    }
    const nested = schemaOf({
      properties: {
        box: {
          [permission]: { owner: "rw", self: "rw" },
          properties: { shut: { [permission]: { owner: "rw" } }, open: {} },
        },
      },
    });
    for (const box of [{ open: 1, shut: 2 }, { shut: null }, null, "x", [1]]) {
      for (const previous of [{ box: { open: 1, shut: 2 } }, { box: { open: 1 } }, {}]) {
        assert.deepEqual(
          refusalOf(() => patchedData(nested, previous, { box }, "self")),
          readOnly,
        );
      }
    }
    const kept = patchedData(nested, { box: { open: 1, shut: 2 } }, { box: { open: 3 } }, "self");
    assert.deepEqual(kept, { box: { open: 3, shut: 2 } });
  });

  it("names the property in the refusal", () => {
    const data = { address: { proven: true } };
    assert.throws(() => write("self", data), { metadata: { field: "user.data.address.proven" } });
  });

  it("sees what they may read", () => {
    const data = { plain: 1, mine: 2, theirs: 3, other: 4, address: { city: "a", proven: true } };
    const { theirs: _, ...seen } = data;
    assert.deepEqual(readableData(schema, data, "self"), seen);
    assert.deepEqual(readableData(schema, data, "owner"), data);
    const hidden = schemaOf({
      properties: {
        box: {
          [permission]: { owner: "rw" },
          properties: { open: { [permission]: { self: "r" } }, shut: {} },
        },
      },
    });
    const box = { box: { open: 1, shut: 2 } };
    assert.deepEqual(readableData(hidden, box, "self"), { box: { open: 1 } });
    assert.deepEqual(readableData(hidden, box, "owner"), { box: { shut: 2 } });
    assert.deepEqual(readableData(hidden, { box: { shut: 2 } }, "self"), {});
  });
});
