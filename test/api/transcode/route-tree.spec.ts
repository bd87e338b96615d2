// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parsePathTemplate } from "../../../src/api/transcode/path-template.ts";
import { createRouteTree, type RouteTree } from "../../../src/api/transcode/route-tree.ts";
import { assertRefused } from "./refusal.ts";

function treeOf(...routes: string[]): RouteTree<string> {
  const tree = createRouteTree<string>();
  for (const route of routes) {
    const [httpMethod = "", path = ""] = route.split(" ");
    tree.add(httpMethod, parsePathTemplate(path), route);
  }
  return tree;
}

const executions = treeOf(
  "GET /executions/functions",
  "GET /executions/{id}",
  "DELETE /executions/{id}",
  "POST /executions",
  "POST /executions/_search",
  "POST /executions/{id}/_match",
  "GET /executions/{id}/notes/{note_id}",
  "POST /executions/{id}:pause",
  "GET /files/{path=**}",
  "GET /{name=orgs/*/users/*}",
  "GET /{name=orgs/*/users/*}:check",
);

function found(request: string, value: string, ...variables: [string, string][]): void {
  const [httpMethod = "", path = ""] = request.split(" ");
  assert.deepEqual(executions.match(httpMethod, path), { kind: "found", value, variables });
}

describe("matching a request to a route", () => {
  it("takes static text", () => found("POST /executions", "POST /executions"));
  it("takes a segment as a variable", () =>
    found("GET /executions/7", "GET /executions/{id}", ["id", "7"]));
  it("takes several variables in order", () =>
    found(
      "GET /executions/7/notes/8",
      "GET /executions/{id}/notes/{note_id}",
      ["id", "7"],
      ["note_id", "8"],
    ));
  it("prefers static segments before variables", () =>
    found("GET /executions/functions", "GET /executions/functions"));
  it("prefers static segments only among the routes of the method", () =>
    found("DELETE /executions/functions", "DELETE /executions/{id}", ["id", "functions"]));
  it("comes back to the variable where the static path leads nowhere", () =>
    found("POST /executions/_search/_match", "POST /executions/{id}/_match", ["id", "_search"]));
  it("takes several segments as one variable", () =>
    found("GET /orgs/1/users/2", "GET /{name=orgs/*/users/*}", ["name", "orgs/1/users/2"]));
  it("takes all that is left as **", () =>
    found("GET /files/a/b/c", "GET /files/{path=**}", ["path", "a/b/c"]));
  it("takes nothing left as ** too", () =>
    found("GET /files", "GET /files/{path=**}", ["path", ""]));

  it("takes a verb off the last segment", () =>
    found("POST /executions/7:pause", "POST /executions/{id}:pause", ["id", "7"]));
  it("takes a verb off a variable of several segments", () =>
    found("GET /orgs/1/users/2:check", "GET /{name=orgs/*/users/*}:check", [
      "name",
      "orgs/1/users/2",
    ]));
  it("leaves a colon that starts no verb in the id", () =>
    found("DELETE /executions/a:b", "DELETE /executions/{id}", ["id", "a:b"]));
  it("leaves an encoded colon in the id", () =>
    found("DELETE /executions/a%3Apause", "DELETE /executions/{id}", ["id", "a:pause"]));
});

describe("matching before decoding", () => {
  const ids: [raw: string, id: string][] = [
    ["%66unctions", "functions"],
    ["a%2Fnotes%2Fb", "a/notes/b"],
    ["..%2f..", "../.."],
    ["%2e%2e", ".."],
    ["..", ".."],
    ["%00", "\0"],
    ["%2566", "%66"],
    ["a?b".replace("?", "%3F"), "a?b"],
    ["%C3%BC", "ü"],
  ];
  for (const [raw, id] of ids) {
    it(`makes /executions/${raw} the id ${JSON.stringify(id)}, and no other route`, () =>
      found(`GET /executions/${raw}`, "GET /executions/{id}", ["id", id]));
  }
  it("does not take an encoded path as static text", () =>
    assert.deepEqual(executions.match("GET", "/%65xecutions/functions"), { kind: "notFound" }));
  it("does not resolve dot segments", () =>
    assert.deepEqual(executions.match("GET", "/files/../executions/7"), {
      kind: "found",
      value: "GET /files/{path=**}",
      variables: [["path", "../executions/7"]],
    }));
  it("keeps an encoded slash apart from a slash in a variable of several segments", () =>
    found("GET /files/a%2Fb/c%20d", "GET /files/{path=**}", ["path", "a%2Fb/c d"]));
  for (const raw of ["%", "%zz", "%C3", "%C0%AF", "%ED%A0%80", "ü", "\u0001"]) {
    it(`refuses the encoding of ${JSON.stringify(raw)}`, () =>
      assert.deepEqual(executions.match("GET", `/executions/${raw}`), { kind: "badEncoding" }));
  }
});

describe("a request without a route", () => {
  const unknown = [
    "",
    "executions",
    "/",
    "//",
    "/unknown",
    "/executions/7/8",
    "/executions/",
    "/executions//notes/8",
    "/executions/7/notes/",
    "//executions/7",
    "/files/a//b",
    "/files/a/",
    "*",
    "http://host/executions/7",
  ];
  for (const path of unknown) {
    it(`is not found at "${path}"`, () =>
      assert.deepEqual(executions.match("GET", path), { kind: "notFound" }));
  }
  it("is not found with an id of no characters before a verb", () =>
    assert.deepEqual(treeOf("POST /hooks/{id}:pause").match("POST", "/hooks/:pause"), {
      kind: "notFound",
    }));
  it("names the other methods of the path, sorted", () =>
    assert.deepEqual(executions.match("PUT", "/executions/functions"), {
      kind: "methodNotAllowed",
      allow: ["DELETE", "GET"],
    }));
  it("names the other methods of the path to a method that has no routes for it", () =>
    assert.deepEqual(executions.match("GET", "/executions"), {
      kind: "methodNotAllowed",
      allow: ["POST"],
    }));
  it("is told the methods even when its encoding is bad", () =>
    assert.deepEqual(executions.match("PATCH", "/executions/%zz"), {
      kind: "methodNotAllowed",
      allow: ["DELETE", "GET"],
    }));
  it("of an empty tree is not found", () =>
    assert.deepEqual(treeOf().match("GET", "/"), { kind: "notFound" }));
});

describe("adding a route", () => {
  const twins: [string, string][] = [
    ["GET /hooks", "GET /hooks"],
    ["GET /hooks/{id}", "GET /hooks/{hook_id}"],
    ["GET /hooks/{id}", "GET /hooks/*"],
    ["GET /orgs/{a}/users/{b}", "GET /{name=orgs/*/users/*}"],
    ["GET /files/**", "GET /files/{path=**}"],
    ["GET /hooks/{id}:check", "GET /hooks/{name}:check"],
  ];
  for (const [first, second] of twins) {
    it(`refuses ${second} beside ${first}`, () =>
      assertRefused(() => treeOf(first, second), { kind: "internal", reason: "DUPLICATE_ROUTE" }));
  }
  it("accepts the same shape for other methods and other verbs", () => {
    const tree = treeOf(
      "GET /a/{id}",
      "PUT /a/{id}",
      "GET /a/{id}:x",
      "GET /a/{id}:y",
      "GET /a/**",
    );
    assert.equal(tree.match("GET", "/a/1:y").kind, "found");
  });
});
