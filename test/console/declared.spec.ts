// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type DescMessage, fromJson, getOption, type JsonObject } from "@bufbuild/protobuf";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { of_instance } from "#gen/idsvc/options/v1/options_pb.ts";
import { requestOf, shownFrom } from "../../src/console/forms/request.ts";
import { modules } from "../../src/app/modules.ts";
import { clientName, type Shown, textAt } from "../../src/console/declared/declare.ts";
import { fieldAt, nameIn, objectsAt } from "../../src/console/declared/schema.ts";
import { settingsOf } from "../../src/console/declared/settings.ts";
import { services } from "../../gen/client_services.ts";
import { definition } from "../../src/eventstore/event.ts";
import {
  allFields,
  allShown,
  declaredKinds,
  declaredLists,
  declaredSettings,
  offered,
} from "./declared.ts";

const lacks = (message: DescMessage, path: string): boolean => fieldAt(message, path) === undefined;

const events = modules({
  multitenancy_resources_api: true,
  multitenancy_settings: true,
  oidc_token_exchange: true,
}).flatMap((module) => module.events);

describe("what the console declares", () => {
  it("shows what the messages of the schema have", () => {
    const wrong = allShown.flatMap(({ shown, message }) =>
      shown.text === undefined && (message === undefined || lacks(message, shown.path))
        ? [`${message?.typeName}: ${shown.path}`]
        : [],
    );
    assert.deepEqual(wrong, []);
  });

  it("ends a form that edits with the word for saving", () => {
    const wrong = offered.filter(
      ({ action: { word, fields = [], isChange, send } }) =>
        word.startsWith("edit") && fields.length > 0 && isChange !== true && send !== "save",
    );
    assert.deepEqual(
      wrong.map(({ action: { word, method } }) => `${method.name}: ${word}`),
      [],
    );
  });

  it("calls each setting of a page and each column of a list by another word", () => {
    const words = (shown: readonly Shown[]) =>
      shown.map(({ path, word }) => word ?? `field_${nameIn(path)}`);
    const pages: [page: string, shown: readonly Shown[]][] = [
      ...declaredSettings.map(({ path, group }): [string, readonly Shown[]] => [
        path,
        settingsOf(group).map(({ value }) => value),
      ]),
      ...declaredLists.map(({ path, listed }): [string, readonly Shown[]] => [
        path,
        listed.columns,
      ]),
    ];
    const twice = pages.flatMap(([page, shown]) =>
      words(shown)
        .filter((word, nth, all) => all.indexOf(word) !== nth)
        .map((word) => `${page}: ${word}`),
    );
    assert.deepEqual(twice, []);
  });

  it("looks for what was typed in the browser only where the method answers all rows at once (K6)", () => {
    const looked = declaredLists.filter(({ listed }) => listed.foundIn !== undefined);
    const paged = looked.filter(({ listed }) => !lacks(listed.search.method.input, "query"));
    assert.deepEqual(
      paged.map(({ path }) => path),
      [],
    );
    assert.ok(looked.length > 0);
  });

  it("sends what the requests of the schema have", () => {
    const wrong = offered.flatMap(({ action }) => {
      const ways = (action.fields ?? []).flatMap((each) => ("ways" in each ? each.ways : []));
      const given = [action.given, ...ways.map((way) => way.given)];
      return [
        ...allFields(action).map(({ path }) => path),
        ...given.flatMap((each) => Object.keys(each ?? {})),
        ...(action.clears === undefined ? [] : [action.clears]),
      ]
        .filter((path) => lacks(action.method.input, path))
        .map((path) => `${action.method.name}: ${path}`);
    });
    assert.deepEqual(wrong, []);
  });

  it("searches by requests of the schema", () => {
    const object = { details: { id: "1" }, client_id: "2" };
    const read = (message: DescMessage, request: JsonObject) => void fromJson(message, request);
    for (const { listed } of declaredLists) {
      const { method, request } = listed.search;
      const period = { from: "2026-11-26T00:00:00Z", to: "2026-11-27T00:00:00Z" };
      for (const state of ["", ...(listed.states ?? [])]) {
        read(method.input, request({ q: "a", org: "3", state, language: "en" }));
        const all = { q: "a", org: "3", state, language: "en", person: "4", period };
        const sequence = { from: "7", to: "8" };
        read(method.input, request({ ...all, request: "5", near: "6", sequence }));
        read(method.input, request({ q: "", org: undefined, state, language: "en" }));
      }
    }
    for (const { kind } of declaredKinds) {
      const searches = [...kind.rows.map(({ search }) => search), kind.history];
      for (const search of searches) {
        if (search !== undefined) read(search.method.input, search.request(object));
      }
    }
  });

  it("asks for histories of what there are events of", () => {
    const known = new Set(events.map((each) => each[definition].aggregateType));
    for (const { path, kind } of declaredKinds) {
      const request = kind.history?.request({ details: { id: "1" } }) ?? {};
      for (const filter of objectsAt(request, "filters")) {
        const type = textAt(filter, "aggregate.type");
        assert.ok(type === "" || known.has(type), `${path}: ${type}`);
      }
    }
  });

  it("watches for events that there are", () => {
    const known = events.flatMap((each) => [...each[definition].rules.keys()]);
    const wrong = declaredLists.flatMap(({ path, listed }) =>
      (listed.watches ?? [])
        .filter((asked) => !known.some((type) => type === asked || type.startsWith(`${asked}.`)))
        .map((asked) => `${path}: ${asked}`),
    );
    assert.deepEqual(wrong, []);
  });

  it("tells what a change was made of wherever it begins with what is there", () => {
    const untold = offered.filter(
      ({ action }) =>
        allFields(action).some((field) => shownFrom(action, field) !== undefined) &&
        lacks(action.method.input, "expected_sequence"),
    );
    // A name of a passkey is replaced as a whole.
    const replacing = ["RenameWebAuthNAuthenticator"];
    assert.deepEqual([...new Set(untold.map(({ action }) => action.method.name))], replacing);
  });

  it("asks before whatever it removes", () => {
    const removing = /^(?:Delete|Remove|Deactivate)/;
    const unasked = offered.filter(
      ({ action }) => removing.test(action.method.name) && action.isDangerous !== true,
    );
    assert.deepEqual(
      unasked.map(({ path, action }) => `${path}: ${action.method.name}`),
      [],
    );
  });

  it("offers to activate what is not active, and to deactivate what is", () => {
    for (const { path, kind } of declaredKinds) {
      const message = fieldAt(kind.get.output, kind.object)?.message;
      const states = (message && fieldAt(message, "state")?.enum?.values) ?? [];
      for (const { name } of states.filter((state) => /STATE_(?:IN)?ACTIVE$/.test(state.name))) {
        const isActive = name.endsWith("STATE_ACTIVE");
        for (const { word, when } of kind.actions) {
          if (!["activate", "deactivate"].includes(word)) continue;
          const isOffered = (word === "activate") !== isActive;
          assert.equal(when?.({ state: name }), isOffered, `${path}: ${word}, ${name}`);
        }
      }
    }
  });

  it("offers no organization a setting of the instance alone", () => {
    for (const { path, group } of declaredSettings) {
      const fields = fieldAt(group.set.input, "settings")?.message?.fields ?? [];
      const alone = fields.filter((field) => getOption(field, of_instance)).map(({ name }) => name);
      assert.deepEqual(group.ofInstance ?? [], alone, path);
    }
  });

  it("sends a list of a setting that was emptied", () => {
    const group = declaredSettings.find(({ path }) => path === "/settings/login")?.group;
    const setting = group && settingsOf(group).find(({ name }) => name === "second_factors");
    assert.ok(setting);
    const object = { settings: { second_factors: { value: ["totp"] } } };
    const subject = { object, page: object, answer: {}, org: undefined };
    const send = (value: string[]) =>
      requestOf(setting.change, subject, {
        values: { "settings.second_factors.set.value": value },
        ways: {},
      });
    for (const value of [[], ["u2f"]]) {
      assert.deepEqual(send(value), { settings: { second_factors: { set: { value } } } });
    }
  });

  it("offers each value that a setting may have", () => {
    for (const { path, group } of declaredSettings) {
      for (const [name, words] of Object.entries(group.values ?? {})) {
        const field = fieldAt(group.set.input, `settings.${name}`);
        assert.ok(field, `${path}: ${name}`);
        const expression = getOption(field, fieldRules).cel[0]?.expression ?? "";
        const known = [...expression.matchAll(/'(\w+)'/g)].map(([, value]) => value);
        assert.deepEqual(Object.keys(words), known, `${path}: ${name}`);
      }
    }
  });

  it("calls services in the TypeScript that it shows as the client does", () => {
    for (const [name, service] of Object.entries(services)) {
      assert.equal(clientName(service.typeName), name);
    }
  });
});
