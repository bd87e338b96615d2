import { newSealingKey } from "../../src/crypto/secrets.ts";
import { alreadyExists } from "../../src/errors.ts";
import { aggregate } from "../../src/eventstore/aggregate.ts";
import { defineEvents, type EventOf, hold, payload, release } from "../../src/eventstore/event.ts";
import { createEventStore, type EventStore } from "../../src/eventstore/eventstore.ts";
import { createSecretStore, type SecretStore } from "../../src/eventstore/secret-store.ts";
import type { WriteContext } from "../../src/eventstore/transaction.ts";
import { on, projection, reduceWith } from "../../src/projection/projection.ts";
import type { MigratableDatabase } from "../../src/storage/database.ts";
import { deleteRows, insertRow } from "../../src/storage/row-change.ts";
import type { Schema } from "../../src/storage/schema.ts";
import { int64, table, text } from "../../src/storage/table.ts";
import type { Place } from "../storage/place.ts";

/** A list of lines with a title that is unique. */
export const listEvents = defineEvents("list", {
  added: payload<{ title: string }>({ claims: ({ title }) => [hold("list.title", title)] }),
  "line.added": payload<{ line: string }>(),
  removed: payload<Record<string, never>>({ claims: () => [release("list.title")] }),
});
export type List = { title: string; lines: string[] } | undefined;
export const list = aggregate(
  listEvents,
  undefined as List,
  (state, event: EventOf<typeof listEvents>): List => {
    switch (event.type) {
      case "list.added":
        return { title: event.payload.title, lines: [] };
      case "list.line.added":
        return state && { ...state, lines: [...state.lines, event.payload.line] };
      default:
        return undefined;
    }
  },
);

type PersonAdded = { handle: string; fullName: string; born: string | undefined };

/** A person; what tells of them is sealed with their own key. */
export const personEvents = defineEvents("person", {
  added: payload<PersonAdded>({ personal: ["fullName", "born"], revision: 2 }),
  renamed: payload<{ fullName: string }>({ personal: ["fullName"] }),
  // What somebody says of a person belongs to the person it is about, not to the one who says it.
  praised: payload<{ userId: string; words: string }>({
    personal: ["words"],
    subject: ({ userId }) => userId,
  }),
});
export type Person =
  | { handle: string; fullName: string | undefined; names: number; praise: (string | undefined)[] }
  | undefined;
export const person = aggregate(
  personEvents,
  undefined as Person,
  (state, event: EventOf<typeof personEvents>): Person => {
    const old = state ?? { handle: "", fullName: undefined, names: 0, praise: [] };
    switch (event.type) {
      case "person.added": {
        const { handle, fullName } = event.payload;
        return { ...old, handle, fullName, names: 1 };
      }
      case "person.renamed":
        return { ...old, fullName: event.payload.fullName, names: old.names + 1 };
      case "person.praised":
        return { ...old, praise: [...old.praise, event.payload.words] };
      default:
        return event satisfies never;
    }
  },
);

/** The titles of lists that are there. */
export const titles = table(
  "titles",
  { instanceId: text(), id: text(), title: text(), sequence: int64() },
  { key: ["instanceId", "id"] },
);
const titleProjection = projection(
  "titles",
  [titles],
  on(listEvents, {
    "list.added": ({ instanceId, aggregateId: id, sequence, payload: { title } }) => [
      insertRow(titles, { instanceId, id, title, sequence }),
    ],
    "list.removed": ({ instanceId, aggregateId: id }) => [deleteRows(titles, { instanceId, id })],
  }),
);

export const schema: Schema = { state: [], projections: [titles] };

export const instances = ["one", "two"];
export const start = new Date("2026-01-02T03:04:05.678Z");
export const owner = { type: "instance", id: "one" } as const;

export const by = (part: Partial<WriteContext> = {}): WriteContext => ({
  instanceId: "one",
  editorId: "editor",
  service: "test.Service",
  clientId: "client",
  requestId: "request",
  ...part,
});

export type Store = AsyncDisposable & {
  db: MigratableDatabase;
  secrets: SecretStore;
  events: EventStore;
  /** The types of each unit that was committed. */
  appended: string[][];
};

const master = newSealingKey("master:test");

/** Opens the place with this catalog; its two instances have their keys. */
export async function openStore(place: Place, now = () => start): Promise<Store> {
  const db = await place.open(schema);
  await db.migrate();
  const secrets = createSecretStore(db, { current: master });
  if (
    (await db.read.select().from(db.table(titles))).length === 0 &&
    (await db.heads()).size === 0
  ) {
    for (const instanceId of instances) {
      const changes = secrets.createInstanceKeys(instanceId, start);
      await db.commit({ instanceId, expect: [], claims: [], events: [], changes });
    }
  }
  const appended: string[][] = [];
  const events = createEventStore({
    db,
    secrets,
    now,
    catalog: {
      events: [listEvents, personEvents],
      reduce: reduceWith([titleProjection]),
      claimErrors: new Map([["list.title", () => alreadyExists("LIST_TITLE_TAKEN", "taken")]]),
    },
    onAppended: (types) => appended.push(types),
  });
  return { db, secrets, events, appended, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
}

export type Fresh = Store & { place: Place };

export const freshStore =
  (newPlace: () => Promise<Place>) =>
  async (now?: () => Date): Promise<Fresh> => {
    const place = await newPlace();
    const store = await openStore(place, now);
    return {
      ...store,
      place,
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]();
        await place[Symbol.asyncDispose]();
      },
    };
  };

/** Adds a list with lines, as units of their own. */
export async function addList(
  { events }: Pick<Store, "events">,
  id: string,
  title = id,
  at = by(),
): Promise<void> {
  await events.transact(at, async (tx) => {
    const loaded = await tx.load(list, id);
    tx.record(list, loaded, [listEvents.added({ title })], owner);
  });
}

export async function addLine(
  { events }: Pick<Store, "events">,
  id: string,
  line: string,
  at = by(),
) {
  await events.transact(at, async (tx) => {
    tx.record(list, await tx.load(list, id), [listEvents["line.added"]({ line })]);
  });
}
