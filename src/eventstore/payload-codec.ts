import { open, type SealingKey, seal } from "../crypto/secrets.ts";
import type { RowChange } from "../storage/row-change.ts";
import { type AnyEvents, type AnyPayload, definition, type NewEvent } from "./event.ts";
import type { SecretStore } from "./secret-store.ts";

/** The member of a stored payload that holds its personal fields, sealed. */
const personalMember = "$personal";

type Json = Record<string, unknown>;
const erased = (name: string): [string, string] => [name, ""];

/** Payloads between code and log: personal fields are sealed with the key of the user they tell of (decisions C7). */
export type PayloadCodec = {
  seal(
    event: NewEvent,
    at: { instanceId: string; aggregateId: string; createdAt: Date },
    newKeys: Map<string, SealingKey>,
  ): Promise<{ payload: unknown; changes: RowChange[] }>;
  /** Personal fields whose key is gone are empty. */
  open(type: string, stored: unknown, instanceId: string, aggregateId: string): Promise<unknown>;
  rules(type: string): AnyPayload;
};

export function createPayloadCodec(all: AnyEvents[], secrets: SecretStore): PayloadCodec {
  const rules = new Map<string, AnyPayload>();
  for (const set of all) {
    for (const [type, rule] of set[definition].rules) {
      if (rules.has(type)) throw new Error(`event ${type} is defined twice`);
      rules.set(type, rule);
    }
  }
  const place = (instance: string, ownerId: string, type: string) => ({
    instance,
    ownerType: "user",
    ownerId,
    kind: `event:${type}`,
  });

  return {
    rules(type) {
      const rule = rules.get(type);
      if (rule === undefined) throw new Error(`event ${type} is not defined by any slice`);
      return rule;
    },

    async seal(event, { instanceId, aggregateId, createdAt }, newKeys) {
      const { personal, subject } = this.rules(event.type);
      if (personal === undefined) return { payload: event.payload, changes: [] };
      const userId = subject?.(event.payload, aggregateId) ?? aggregateId;
      const changes: RowChange[] = [];
      let key = newKeys.get(userId) ?? (await secrets.userKey(instanceId, userId));
      if (key === undefined) {
        const created = await secrets.createUserKey(instanceId, userId, createdAt);
        key = created.key;
        newKeys.set(userId, key);
        changes.push(created.change);
      }
      const clear: Json = {};
      const hidden: Json = {};
      const names: ReadonlySet<string> = new Set(personal);
      for (const [name, value] of Object.entries(Object(event.payload))) {
        (names.has(name) ? hidden : clear)[name] = value;
      }
      const sealed = seal(
        key,
        place(instanceId, userId, event.type),
        Buffer.from(JSON.stringify(hidden)),
      );
      return {
        payload: { ...clear, [personalMember]: Buffer.from(sealed).toString("base64") },
        changes,
      };
    },

    async open(type, stored, instanceId, aggregateId) {
      const rule = rules.get(type);
      if (rule?.personal === undefined || stored === null || typeof stored !== "object")
        return stored;
      const { [personalMember]: sealed, ...clear } = stored as Json;
      if (typeof sealed !== "string") return clear;
      const userId = rule.subject?.(clear, aggregateId) ?? aggregateId;
      const key = await secrets.userKey(instanceId, userId);
      // Every fold takes an erased person for one whose texts are empty, and goes on.
      if (key === undefined) return { ...clear, ...Object.fromEntries(rule.personal.map(erased)) };
      const bytes = open(key, place(instanceId, userId, type), Buffer.from(sealed, "base64"));
      return { ...clear, ...JSON.parse(Buffer.from(bytes).toString("utf8")) };
    },
  };
}
