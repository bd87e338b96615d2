// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { TextFilterMethod } from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import { bodyOf, startActionPeer, uniqueName, url } from "../resources/action/action-peer.ts";
import { messageOf } from "../support/protocols.ts";
import { assertRefused } from "../support/refusal.ts";
import { unharmed } from "./abuse.ts";

const action = await startActionPeer();
const { app, peer, post, patch, addTarget } = action;
after(() => action[Symbol.asyncDispose]());
const options = { token: app.token };
const { createTarget, patchTarget, searchTargets } = ActionService.method;

describe("a name", () => {
  const hostile: [what: string, name: string][] = [
    ["NUL", "a\u0000b"],
    ["a control character", "a\u0007b"],
    ["a line break", "a\nb"],
    ["a control character of the second row", "a\u0085b"],
    ["a bidi override", "a\u202Eb"],
    ["a bidi isolate", "a\u2066b"],
    ["a zero-width space", "a\u200Bb"],
    ["a zero-width joiner", "a\u200Db"],
    ["a soft hyphen", "a\u00ADb"],
    ["a word joiner", "a\u2060b"],
    ["a byte order mark", "a\uFEFFb"],
    ["a line separator", "a\u2028b"],
    ["a private-use character", "a\uE000b"],
    ["a tag character", "a\u{E0041}b"],
    ["a trailing blank", "ab "],
    ["a leading blank", " ab"],
    ["a trailing tab", "ab\t"],
    ["a trailing no-break space", "ab\u00A0"],
    ["a leading ideographic space", "\u3000ab"],
    ["nothing but a blank", " "],
  ];
  for (const [what, name] of hostile) {
    it(`D76: is refused with ${what}`, async () => {
      const id = await addTarget();
      const expected = { code: 3, reason: "VALIDATION_FAILED", field: "target.name" };
      await unharmed(action, async () => {
        const created = await post("/targets", { name, rest_webhook: { url } });
        assert.equal(created.status, 400);
        assertRefused(created.refusal, expected, "create");
        assertRefused((await patch(`/targets/${id}`, { name })).refusal, expected, "patch");
        const targetType = { case: "restWebhook" as const, value: { url } };
        const target = { name, targetType };
        assertRefused(await peer.call("grpc", createTarget, { target }, options), expected, "grpc");
        const patched = await peer.call("grpc", patchTarget, { id, target: { name } }, options);
        assertRefused(patched, expected, "grpc patch");
      });
    });
  }

  const alike: [what: string, first: string, second: string][] = [
    ["full-width letters", "\uFF21\uFF22\uFF23 1", "abc 1"],
    ["sharp s", "straße 2", "STRASSE 2"],
    ["dotless i", "k\u0131z 4", "KIZ 4"],
    ["composed and decomposed letters", "caf\u00E9 5", "cafe\u0301 5"],
    ["a ligature", "\uFB01n 6", "fin 6"],
    ["the Kelvin sign", "\u212A 7", "k 7"],
    ["final and other sigma", "\u03BF\u03C2 8", "\u03BF\u03C3 8"],
    ["a no-break space", "a\u00A0b 9", "a b 9"],
    ["superscript digits", "m\u00B2", "m2"],
    ["Cyrillic case", "\u041C\u0418\u0420 11", "\u043C\u0438\u0440 11"],
    ["long s", "\u017Ftop 12", "stop 12"],
  ];
  for (const [what, first, second] of alike) {
    it(`D76: is taken by one that is equal but for ${what}, both ways`, async () => {
      for (const [held, wanted] of [
        [first, second],
        [second, first],
      ] as const) {
        const id = await addTarget({ name: held });
        const other = await addTarget();
        await unharmed(action, async () => {
          const created = await post("/targets", { name: wanted, rest_webhook: { url } });
          assert.equal(created.status, 409);
          const taken = { code: 6, reason: "TARGET_NAME_TAKEN" };
          assertRefused(created.refusal, taken);
          assertRefused((await patch(`/targets/${other}`, { name: wanted })).refusal, taken);
        });
        const kept = bodyOf(await action.get(`/targets/${id}`));
        assert.equal(kept.target.target.name, held, "a name is kept as it was written");
        bodyOf(await action.remove(`/targets/${id}`));
      }
    });
  }

  it("D76: is not taken by one that only looks alike", async () => {
    await addTarget({ name: "paypal 13" });
    await addTarget({ name: "p\u0430ypal 13" });
  });
});

/** The rule of A9, spelled once more. */
const fold = (text: string) => {
  const normal = text.normalize("NFKC");
  return normal.toUpperCase().toLowerCase().normalize("NFKC");
};
const compares: Record<keyof typeof TextFilterMethod, (name: string, text: string) => boolean> = {
  EQUALS: (name, text) => name === text,
  EQUALS_IGNORE_CASE: (name, text) => fold(name) === fold(text),
  STARTS_WITH: (name, text) => name.startsWith(text),
  STARTS_WITH_IGNORE_CASE: (name, text) => fold(name).startsWith(fold(text)),
  CONTAINS: (name, text) => name.includes(text),
  CONTAINS_IGNORE_CASE: (name, text) => fold(name).includes(fold(text)),
  ENDS_WITH: (name, text) => name.endsWith(text),
  ENDS_WITH_IGNORE_CASE: (name, text) => fold(name).endsWith(fold(text)),
};
const methods = Object.keys(compares) as (keyof typeof TextFilterMethod)[];

describe("a text filter", async () => {
  const signs = [
    "%",
    "_",
    "\\",
    "'",
    '"',
    ";--",
    "*",
    "?",
    ".",
    ".*",
    "[a-z]",
    "^",
    "$",
    "|",
    "(",
    "{",
  ];
  const names = [
    ...signs.flatMap((sign) => [`x${sign}y`, `${sign}lead`, `tail${sign}`]),
    "x%y%z",
    "x_y_z",
    "\\%",
    "%%",
    "xAy",
    "x y",
    "xy",
    "' OR 1=1 --",
    "ÄPFEL",
    "äpfelmus",
    "Straße 9",
    "cafe\u0301",
    "\u0130stanbul",
    "k\u0131z",
    "😀 smile",
    "a😀",
    "\uFF21BC",
    "fi",
    "ＧＨ",
    "Ωmega",
    "日本語",
  ];
  const terms = [
    ...signs,
    "x%",
    "%y",
    "x_y",
    "\\%",
    "x.y",
    "X%Y",
    "'; drop table targets; --",
    "x",
    "Y",
    "lead",
    "ä",
    "Ä",
    "äPFEL",
    "ß",
    "SS",
    "ss",
    "é",
    "e\u0301",
    "\u0301",
    "i",
    "I",
    "\u0131",
    "😀",
    "\uDE00",
    "abc",
    "ﬁ",
    "gh",
    "ω",
    "日",
    "語",
    " ",
    "",
    "xy",
    "ıZ",
  ].filter((term) => term.isWellFormed());
  await using other = await startActionPeer();
  for (const name of names) await other.addTarget({ name });
  const search = async (text: string, how: (typeof methods)[number]) => {
    const value = { name: text, method: TextFilterMethod[how] };
    const filter = { case: "name" as const, value };
    const request = { query: { limit: 1000, asc: true }, filters: [{ filter }] };
    const token = other.app.token;
    const found = messageOf(
      await other.peer.call("connect-proto", searchTargets, request, { token }),
    );
    return found.result.map(({ target }) => target?.name ?? "");
  };
  const wrong = new Map<string, string[]>();
  for (const method of methods) {
    const failures: string[] = [];
    for (const term of terms) {
      const found = await search(term, method);
      const wanted = names.filter((name) => compares[method](name, term));
      if (JSON.stringify(found) !== JSON.stringify(wanted)) {
        failures.push(
          `${JSON.stringify(term)}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`,
        );
      }
    }
    wrong.set(method, failures);
  }

  for (const method of methods) {
    it(`D77: matches literally by ${method}`, () => {
      assert.deepEqual(wrong.get(method), []);
    });
  }

  it("D77: does the same over REST", async () => {
    await addTarget({ name: "100% sure" });
    await addTarget({ name: "100 sure" });
    for (const [text, found] of [
      ["0%", ["100% sure"]],
      ["0_", []],
      ["' OR ''='", []],
    ] as const) {
      const filter = { name: { name: text, method: "TEXT_FILTER_METHOD_CONTAINS" } };
      const { result } = bodyOf(await post("/targets/_search", [filter]));
      assert.deepEqual(
        result.map(({ target }: { target: { name: string } }) => target.name),
        found,
        text,
      );
    }
  });

  it("D77: sends no unique name back in a refusal", async () => {
    const name = uniqueName();
    await addTarget({ name });
    const { refusal } = await post("/targets", { name, rest_webhook: { url } });
    assertRefused(refusal, { code: 6, reason: "TARGET_NAME_TAKEN" });
    assert.deepEqual(refusal.metadata, {});
  });
});
