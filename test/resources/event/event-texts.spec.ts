// Run: shared
import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { after, describe, it } from "node:test";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { modules } from "../../../src/app/modules.ts";
import { supportedLanguages } from "../../../src/settings/policy/language.ts";
import { eventTexts, eventFormatterIn, namedResources } from "../../../src/texts/event-texts.ts";
import { until } from "../../jobs/place.ts";
import { startSettingsPeer } from "../../settings/settings-peer.ts";
import { bodyOf, uniqueName } from "../../support/peer.ts";
import { messageOf, protocols } from "../../support/protocols.ts";
import { systemCaller } from "../../support/system-caller.ts";
import { protocols as streams, watch } from "./watchers.ts";

const features = {
  multitenancy_resources_api: true,
  multitenancy_settings: true,
  oidc_token_exchange: true,
};
const operator = systemCaller();
const service = await startSettingsPeer("languages", { env: operator.env });
const { app, peer, post, set } = service;
after(() => service[Symbol.asyncDispose]());

const addTarget = async () => {
  const target = { name: uniqueName("target"), rest_webhook: { url: "http://localhost:9999/x" } };
  bodyOf(await post("/targets", target), 201);
};
const newest = [{ types: { types: ["target.added"] } }];
const toldOf = async (headers: Record<string, string>) =>
  bodyOf(await post("/events/_search?query.limit=1", newest, { headers })).result[0]
    .localized_message;

describe("the texts of events", () => {
  const loaded: string[] = [];
  const watching = registerHooks({
    load(url, context, next) {
      loaded.push(url.replace(/.*\//, ""));
      return next(url, context);
    },
  });
  after(() => watching.deregister());

  it("are loaded a language at a time, when somebody reads it", async () => {
    await eventFormatterIn("sv");
    assert.deepEqual(loaded, ["sv.json"]);
  });

  for (const language of supportedLanguages) {
    it(`are there in ${language} for every event, and for nothing else`, async () => {
      const format = await eventFormatterIn(language);
      const known = app.kernel.events.eventTypes;
      const own = Object.keys(await eventTexts(language));
      assert.deepEqual(
        own.filter((type) => !known.includes(type)),
        [],
      );
      for (const type of known) {
        const text = format(type);
        assert.match(text, /\S/, type);
        assert.equal(text, text.trim(), type);
        assert.notEqual(text, type);
        assert.doesNotMatch(text, /[{}|_]/, type);
      }
    });
  }

  it("are translated, every one of them", async () => {
    const english = await eventFormatterIn("en");
    for (const language of supportedLanguages.filter((each) => each !== "en")) {
      const format = await eventFormatterIn(language);
      const alike = app.kernel.events.eventTypes.filter((type) => format(type) === english(type));
      assert.deepEqual(alike, [], language);
    }
  });

  it("follow from the names of declared resources, which have no texts of their own", async () => {
    const declared = modules(features).flatMap(({ resources = [] }) => resources);
    const named = declared.filter(({ ownTexts }) => !ownTexts);
    const prefixes = named.map(({ prefix }) => prefix);
    assert.deepEqual(namedResources().toSorted(), prefixes.toSorted());
    const format = await eventFormatterIn("fr");
    assert.equal(format("target.changed"), "Cible modifiée");
    assert.equal(format("project.role.changed"), "Rôle du projet modifié");
    assert.equal(format("target.toString"), "target.toString");
  });

  it("say the name of an event that this release does not know", async () => {
    const format = await eventFormatterIn("de");
    assert.equal(format("toString"), "toString");
    assert.equal(format("target.painted"), "target.painted");
  });
});

describe("events tell what happened in the language of the reader", () => {
  const german = { "accept-language": "xx, de-CH;q=0.8, en;q=0.5" };

  for (const protocol of protocols) {
    it(`in a search over ${protocol}`, async () => {
      await addTarget();
      const options = { token: app.token, headers: german };
      const request = { filters: [{ filter: { case: "types", value: { types: ["target"] } } }] };
      const found = messageOf(
        await peer.call(protocol, EventService.method.searchEvents, request as object, options),
      );
      assert.equal(found.result[0]?.localizedMessage, "Ziel hinzugefügt");
    });

    it(`in the history of a user over ${protocol}`, async () => {
      const request = { id: app.made.machine.user_id, query: { asc: true } };
      const options = { token: app.token, headers: german };
      const found = messageOf(
        await peer.call(protocol, UserService.method.searchUserEvents, request, options),
      );
      assert.equal(found.result[0]?.localizedMessage, "Benutzer (Maschine) hinzugefügt");
    });
  }

  for (const [name, open] of streams) {
    it(`in a stream over ${name}`, async () => {
      const to = { port: app.port, token: app.token, language: "ja" };
      const watcher = await watch(to, {}, open);
      await addTarget();
      await until(() => watcher.types().length === 1, "the event is told");
      assert.equal(watcher.told.at(-1)?.event?.localizedMessage, "ターゲットが追加されました");
      watcher.leave();
      await until(() => watcher.ended !== undefined, "the stream is closed");
    });
  }

  it("or else in the default language of the instance, which is English at first", async () => {
    await addTarget();
    for (const headers of [{}, { "accept-language": "xx" }, { "accept-language": "*" }]) {
      assert.equal(await toldOf(headers), "Target added");
    }
    bodyOf(await set({ default_language: { key: "fr" } }));
    assert.equal(await toldOf({}), "Cible ajoutée");
    assert.equal(await toldOf({ "accept-language": "xx, *;q=0.1" }), "Cible ajoutée");
    assert.equal(await toldOf({ "accept-language": "fr;q=0.2, nl" }), "Doel toegevoegd");
  });

  it("and for the log of the system, which has no default language, in English", async () => {
    const token = await operator.tokenFor(app.made.issuer);
    const limit = { audit_log_retention: "315360000s" };
    const path = `/resources/v3alpha/instances/${app.made.instance_id}/_limit`;
    bodyOf(await peer.rest("POST", path, limit, { token }));
    bodyOf(await set({ default_language: { key: "fr" } }));
    const ofSystem = async (headers: Record<string, string>) =>
      bodyOf(await post("/events/_search?ctx.system=true", [], { token, headers })).result[0]
        .localized_message;
    assert.equal(await ofSystem({}), "Limits of the instance set");
    assert.equal(await ofSystem({ "accept-language": "it" }), "Limiti dell’istanza impostati");
  });
});
