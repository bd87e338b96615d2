// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";
import { searches } from "./searches.ts";
import { assertRefused } from "../../support/refusal.ts";

const service = await startPeer({ env: { IDSVC_LIST_LIMIT_MAX: "1000" } });
const { app, post, put, patch, remove, addOrganization } = service;
after(() => service[Symbol.asyncDispose]());

type Page = {
  details: { next?: string; end_of_list?: boolean; total_result?: string };
  result: JsonObject[];
};
type Asked = { query?: JsonObject; sorting_column?: number; filters?: JsonObject[] };

async function send(path: string, asked: Asked) {
  const answer = await fetch(`http://localhost:${app.port}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${app.token}`, "content-type": "application/json" },
    body: JSON.stringify(asked),
  });
  return { status: answer.status, body: Object(await answer.json()) };
}

async function ask(path: string, asked: Asked): Promise<Page> {
  const { status, body } = await send(path, asked);
  assert.equal(status, 200, `${path} ${JSON.stringify(asked)}: ${JSON.stringify(body)}`);
  return { result: [], ...body };
}

/** All pages, one behind the other; between two of them something may happen. */
async function pages(path: string, asked: Asked, limit: number, between = async () => {}) {
  const all: JsonObject[] = [];
  for (let next = ""; ; ) {
    const query = { ...asked.query, limit, after: next, skip_total: true };
    const { details, result } = await ask(path, { ...asked, query });
    all.push(...result);
    assert.equal(Number(details.total_result ?? 0), 0, "nothing was counted");
    assert.equal(details.end_of_list ?? false, (details.next ?? "") === "");
    if (details.next === undefined || details.next === "") return all;
    assert.ok(details.next.length <= 512);
    assert.equal(result.length, limit);
    next = details.next;
    await between();
  }
}

const pick = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)] as T;
const idOf = (entry: JsonObject) => String(Object(entry["details"]).id);

// Too long for a cursor, and alike for longer than a cursor holds.
const long = "ä".repeat(190);
let count = 0;
async function addUser(): Promise<string> {
  const nth = count++;
  const address = `${pick(["a", "B", "c"])}${nth}@example.com`;
  const wanted = {
    username: `${pick(["u", "V", "w", "ü"])}-${nth}`,
    data: { given_name: pick(["Ann", "ann", long]), family_name: pick(["X", "Y", long]) },
    contact: pick([{}, { email: { address, is_verified: true } }]),
  };
  return String(bodyOf(await post("/users", wanted), 201).details.id);
}
const addTarget = async () => {
  const target = { name: uniqueName(long), rest_webhook: { url: "http://localhost:9999/x" } };
  return String(bodyOf(await post("/targets", target), 201).details.id);
};
for (let nth = 0; nth < 24; nth++) await addUser();
for (let nth = 0; nth < 7; nth++) {
  await addTarget();
  await addOrganization();
  const { details } = bodyOf(await post("/projects", { name: pick(["P", "p", long]) }), 201);
  bodyOf(
    await post("/project_roles", { project_id: details.id, key: `key${nth}`, display_name: "R" }),
    201,
  );
}

for (const { parent, name, input } of searches) {
  const path = `/${parent.typeName}/${name}`;
  describe(`paging by the cursor: ${name}`, () => {
    for (const { number, name: sort } of input.field["sortingColumn"]?.enum?.values ?? [
      { number: 0, name: "its order" },
    ]) {
      it(`gives what one large page gives, by ${sort}, up and down`, async () => {
        for (const asc of [true, false]) {
          const asked = { sorting_column: number, query: { asc } };
          if (input.field["sortingColumn"] === undefined)
            Reflect.deleteProperty(asked, "sorting_column");
          const whole = await ask(path, { ...asked, query: { asc, limit: 1000 } });
          assert.deepEqual(await pages(path, asked, 4), whole.result);
        }
      });
    }
  });
}

const usersPath = `/${UserService.typeName}/SearchUsers`;
const userSorts =
  UserService.method.searchUsers.input.field["sortingColumn"]?.enum?.values ?? assert.fail();

describe("paging by the cursor while others write", () => {
  for (const { number, name } of userSorts) {
    it(`shows who is there all the time once, and in order, by ${name}`, async () => {
      for (const asc of [true, false]) {
        const asked = { sorting_column: number, query: { asc } };
        const before = (await ask(usersPath, { ...asked, query: { asc, limit: 1000 } })).result;
        const own = new Set(await Promise.all(Array.from({ length: 3 }, () => addUser())));
        const seen = await pages(usersPath, asked, 8, async () => {
          const [gone] = own;
          if (gone !== undefined) {
            own.delete(gone);
            bodyOf(await remove(`/users/${gone}`));
          }
          own.add(await addUser());
        });
        const stayed = new Set(before.map(idOf));
        const ids = seen.map(idOf).filter((id) => stayed.has(id));
        // Of names that begin alike for longer than a cursor holds, some are shown again once the last one shown is removed.
        const once = name === "USER_FIELD_NAME_DISPLAY_NAME" ? [...new Set(ids)] : ids;
        assert.deepEqual(once, before.map(idOf));
        for (const id of own) bodyOf(await remove(`/users/${id}`));
      }
    });
  }

  it("goes on behind the last one of a page that was removed meanwhile", async () => {
    for (const { number } of userSorts) {
      const asked = { sorting_column: number, query: { asc: true } };
      for (let nth = 0; nth < 3; nth++) await addUser();
      const all = (await ask(usersPath, { ...asked, query: { asc: true, limit: 1000 } })).result;
      const first = await ask(usersPath, { ...asked, query: { asc: true, limit: 9 } });
      const last = idOf(first.result[8] ?? assert.fail());
      if (last === app.made.admin?.user_id || last === app.made.machine.user_id) continue;
      bodyOf(await remove(`/users/${last}`));
      const query = { asc: true, limit: 1000, after: first.details.next ?? "" };
      const rest = (await ask(usersPath, { ...asked, query })).result.map(idOf);
      // Of texts that begin alike for longer than a cursor holds, some may be shown once more.
      assert.deepEqual(rest.slice(-(all.length - 9)), all.slice(9).map(idOf));
    }
  });
});

describe("a cursor", () => {
  const first = async (asked: Asked = {}) => {
    const { details } = await ask(usersPath, { ...asked, query: { ...asked.query, limit: 2 } });
    return details.next ?? assert.fail();
  };
  const refusal = async (path: string, asked: Asked) => {
    const { status, body } = await send(path, asked);
    assert.equal(status, 400);
    const details: { value: string }[] = body.details;
    return details.map(({ value }) => String(Buffer.from(value, "base64"))).join("\n");
  };

  it("of another search is refused, and so is one that was changed or made up", async () => {
    const cursor = await first();
    const flipped = `${cursor.slice(0, -2)}${cursor.at(-2) === "A" ? "B" : "A"}${cursor.at(-1)}`;
    const one = { username: { name: "x" } };
    const others: [string, Asked][] = [
      [usersPath, { query: { after: cursor, asc: true } }],
      [usersPath, { query: { after: cursor }, sorting_column: 4 }],
      [usersPath, { query: { after: cursor }, filters: [one] }],
      [`/${ActionService.typeName}/SearchTargets`, { query: { after: cursor } }],
      [`/${EventService.typeName}/SearchEvents`, { query: { after: cursor } }],
      [usersPath, { query: { after: flipped } }],
      [usersPath, { query: { after: "eyJhIjoxfQ" } }],
      [usersPath, { query: { after: "%" } }],
    ];
    for (const [path, asked] of others) {
      assert.match(await refusal(path, asked), /CURSOR_INVALID/);
    }
    assert.match(await refusal(usersPath, { query: { after: "A".repeat(513) } }), /VALIDATION/);
    assert.equal((await ask(usersPath, { query: { after: cursor, limit: 1 } })).result.length, 1);
  });

  it("names its field over REST, and goes there with the query", async () => {
    const page = bodyOf(await post("/users/_search?query.limit=2"));
    const { refusal: refused } = await post("/users/_search?query.after=made-up");
    assertRefused(refused, { code: 3, reason: "CURSOR_INVALID", field: "query.after" });
    const rest = bodyOf(
      await post(`/users/_search?query.limit=1&query.after=${page.details.next}`),
    );
    assert.equal(rest.result.length, 1);
    assert.equal(rest.details.total_result, page.details.total_result);
  });

  it("is not combined with an offset", async () => {
    const cursor = await first();
    const { refusal: refused } = await post(`/users/_search?query.offset=1&query.after=${cursor}`);
    assertRefused(refused, { code: 3, reason: "OFFSET_WITH_CURSOR", field: "query.offset" });
  });

  it("leads through the metadata and the history of one user, and not through another's", async () => {
    const [id, other] = [await addUser(), await addUser()];
    for (const each of [id, other])
      bodyOf(await patch(`/users/${each}`, { username: `p-${each}` }));
    for (const key of ["a", "b", long, `${long}x`, "d"]) {
      bodyOf(await put(`/users/${id}/metadata/${encodeURIComponent(key)}`, { value: "eA==" }));
      bodyOf(await put(`/users/${other}/metadata/${encodeURIComponent(key)}`, { value: "eA==" }));
    }
    for (const method of ["SearchUserMetadata", "SearchUserEvents"]) {
      const path = `/${UserService.typeName}/${method}`;
      const asked = { id };
      const whole = (await ask(path, { ...asked, query: { limit: 100 } })).result;
      assert.ok(whole.length > 1, `${method} gives ${JSON.stringify(whole)}`);
      assert.deepEqual(await pages(path, asked as Asked, 1), whole);
      const { details } = await ask(path, { ...asked, query: { limit: 1 } });
      const moved = { id: other, query: { after: details.next ?? "" } } as Asked;
      assert.match(await refusal(path, moved), /CURSOR_INVALID/);
    }
  });
});
