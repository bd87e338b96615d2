// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parsePathTemplate, percentDecode } from "../../../src/api/transcode/path-template.ts";
import { assertRefused } from "./refusal.ts";

describe("parsing a path template", () => {
  const accepted: [template: string, shape: string, variables: string[], verb?: string][] = [
    ["/hooks", "/hooks", []],
    ["/v3/hooks/_search", "/v3/hooks/_search", []],
    ["/hooks/*", "/hooks/*", []],
    ["/hooks/**", "/hooks/**", []],
    ["/**", "/**", []],
    ["/hooks/{id}", "/hooks/*", ["id 1-2"]],
    ["/hooks/{id=*}", "/hooks/*", ["id 1-2"]],
    ["/hooks/{id}/notes/{note_id}", "/hooks/*/notes/*", ["id 1-2", "note_id 3-4"]],
    ["/orgs/{ctx.org_id}/hooks", "/orgs/*/hooks", ["ctx.org_id 1-2"]],
    ["/{name=orgs/*/users/*}", "/orgs/*/users/*", ["name 0-4 spans"]],
    ["/files/{path=**}", "/files/**", ["path 1-2 spans"]],
    ["/{path=files/**}", "/files/**", ["path 0-2 spans"]],
    ["/hooks/{id=fixed}", "/hooks/fixed", ["id 1-2"]],
    ["/hooks/{id}:check", "/hooks/*", ["id 1-2"], "check"],
    ["/{name=orgs/*}:check", "/orgs/*", ["name 0-2 spans"], "check"],
    ["/files/**:purge", "/files/**", [], "purge"],
    ["/hooks:batch", "/hooks", [], "batch"],
    ["/a-b/c.d/~e/$f,g;h@i!j'k(l)+&", "/a-b/c.d/~e/$f,g;h@i!j'k(l)+&", []],
  ];
  for (const [template, shape, variables, verb = ""] of accepted) {
    it(`accepts ${template}`, () => {
      const parsed = parsePathTemplate(template);
      const segments = parsed.segments.map((segment) =>
        segment.kind === "literal" ? segment.text : segment.kind === "one" ? "*" : "**",
      );
      const bound = parsed.variables.map(
        ({ fieldPath, from, to, spansSegments }) =>
          `${fieldPath} ${from}-${to}${spansSegments ? " spans" : ""}`,
      );
      assert.deepEqual(
        { text: parsed.text, shape: `/${segments.join("/")}`, variables: bound, verb: parsed.verb },
        { text: template, shape, variables, verb },
      );
    });
  }

  const refused: [template: string, column: number, problem: string][] = [
    ["", 1, "expected / at the start"],
    ["hooks", 1, "expected / at the start"],
    ["/", 2, "expected a segment"],
    ["/hooks/", 8, "expected a segment"],
    ["/hooks//x", 8, "expected a segment"],
    ["/ho oks", 4, 'unexpected " "'],
    ["/hooks?x", 7, 'unexpected "?"'],
    ["/hooks%2Fx", 7, 'unexpected "%"'],
    ["/hooks/..", 8, "a dot segment can never match"],
    ["/./hooks", 2, "a dot segment can never match"],
    ["/hooks/{id", 11, "expected } to close the variable id"],
    ["/hooks/{}", 9, "expected the name of a field"],
    ["/hooks/{1d}", 9, "expected the name of a field"],
    ["/hooks/{a.}", 10, "expected } to close the variable a"],
    ["/hooks/{a..b}", 10, "expected } to close the variable a"],
    ["/hooks/{id=}", 12, "expected a segment"],
    ["/hooks/{id=a/{b}}", 14, "a variable must not contain another variable"],
    ["/hooks/{id}/{id}", 13, "the field id is bound twice"],
    ["/hooks/{id}x", 12, 'unexpected "x"'],
    ["/x{id}", 3, 'unexpected "{"'],
    ["/**/hooks", 2, "** must be the last segment"],
    ["/{a=**}/hooks", 5, "** must be the last segment"],
    ["/{a=**/b}", 5, "** must be the last segment"],
    ["/hooks/***", 10, 'unexpected "*"'],
    ["/hooks:", 8, "expected a verb"],
    ["/hooks:a/b", 9, 'unexpected "/"'],
    ["/hooks:a:b", 9, 'unexpected ":"'],
    ["/hooks}", 7, 'unexpected "}"'],
  ];
  for (const [template, column, problem] of refused) {
    it(`refuses "${template}" at column ${column}`, () =>
      assertRefused(() => parsePathTemplate(template), {
        kind: "internal",
        reason: "INVALID_PATH_TEMPLATE",
        message: `column ${column}: ${problem}`,
      }));
  }
});

describe("decoding percent-encoded text", () => {
  const cases: [raw: string, text: string | undefined, keepSlash?: boolean][] = [
    ["abc", "abc"],
    ["a%20b", "a b"],
    ["a+b", "a+b"],
    ["%C3%BC", "ü"],
    ["%F0%9F%94%91", "🔑"],
    ["a%2Fb", "a/b"],
    ["%252F", "%2F"],
    ["a%2Fb/c%2fd%20e", "a%2Fb/c%2fd e", true],
    ["%00", "\0"],
    ["%", undefined],
    ["%2", undefined],
    ["%zz", undefined],
    ["%C3", undefined],
    ["%C0%AF", undefined],
    ["%ED%A0%80", undefined],
    ["ü", undefined],
    ["a b", undefined],
    ["a\u0001", undefined],
  ];
  for (const [raw, text, keepSlash] of cases) {
    const claim = text === undefined ? "refuses" : "decodes, once,";
    it(`${claim} ${JSON.stringify(raw)}${keepSlash ? " with its slashes kept" : ""}`, () =>
      assert.equal(percentDecode(raw, keepSlash), text));
  }
});
