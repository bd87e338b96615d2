import { open, type SealingKey, seal } from "../crypto/secrets.ts";
import type { RowChange } from "../storage/row-change.ts";
import {
  type AnyEvents,
  type AnyPayload,
  definition,
  type NewEvent,
  type Subject,
} from "./event.ts";
import type { SecretStore } from "./secret-store.ts";

/** The member of a stored payload that holds its personal fields, sealed. */
const personalMember = "$personal";

const userType = "user";

type Json = Record<string, unknown>;
const none: readonly never[] = [];
/** Every fold takes an erased person for one whose texts are empty, and goes on. */
const emptied = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, ""]));

type SealedIn = { instanceId: string; aggregateId: string; createdAt: Date; isNew: boolean };
type Sealed = { payload: unknown; changes: readonly RowChange[] };

/** Payloads between code and log: personal fields are sealed with the key of whom they tell of (C7). */
export type PayloadCodec = {
  /** @param at.isNew nothing was ever stored of the aggregate, a key of its own neither */
  seal(event: NewEvent, at: SealedIn, newKeys: Map<string, SealingKey>): Promise<Sealed>;
  /** An event as it is read once whom it tells of is erased: its personal fields are empty. */
  erased(event: NewEvent): NewEvent;
  /** Personal fields whose key is gone are empty. */
  open(type: string, stored: unknown, instanceId: string, aggregateId: string): Promise<unknown>;
  rules(type: string): AnyPayload;
  /** Whether events of the type have fields that are sealed with somebody's key. */
  isPersonal(type: string): boolean;
};

export function createPayloadCodec(all: AnyEvents[], secrets: SecretStore): PayloadCodec {
  const { rules, ofUsers } = rulesOf(all);

  const ruleOf = (type: string): AnyPayload => {
    const rule = rules.get(type);
    if (rule === undefined) throw new Error(`event ${type} is not defined by any slice`);
    return rule;
  };

  async function sealPersonal(
    event: NewEvent,
    personal: readonly string[],
    { instanceId, aggregateId, createdAt, isNew }: SealedIn,
    newKeys: Map<string, SealingKey>,
  ): Promise<Sealed> {
    const subject = subjectOf(ruleOf(event.type), event.payload, aggregateId);
    const name = `${subject.type}/${subject.id}`;
    const changes: RowChange[] = [];
    // Who has no events has no key: nothing is asked of the store for them.
    const isFirst = isNew && ofUsers.has(event.type);
    let key = newKeys.get(name);
    if (key === undefined && !isFirst) key = await secrets.personalKey(instanceId, subject);
    if (key === undefined) {
      const created = await secrets.createPersonalKey(instanceId, subject, createdAt);
      key = created.key;
      newKeys.set(name, key);
      changes.push(created.change);
    }
    const clear: Json = {};
    const hidden: Json = {};
    const names: ReadonlySet<string> = new Set(personal);
    for (const [field, value] of Object.entries(Object(event.payload))) {
      (names.has(field) ? hidden : clear)[field] = value;
    }
    const sealed = seal(
      key,
      encryptionContextOf(instanceId, subject, event.type),
      Buffer.from(JSON.stringify(hidden)),
    );
    return {
      payload: { ...clear, [personalMember]: Buffer.from(sealed).toString("base64") },
      changes,
    };
  }

  return {
    rules: ruleOf,

    isPersonal: (type) => rules.get(type)?.personal !== undefined,

    async seal(event, at, newKeys) {
      const { personal } = ruleOf(event.type);
      if (personal === undefined) return { payload: event.payload, changes: none };
      return sealPersonal(event, personal, at, newKeys);
    },

    erased(event) {
      const { personal } = ruleOf(event.type);
      if (personal === undefined) return event;
      return { ...event, payload: { ...Object(event.payload), ...emptied(personal) } };
    },

    async open(type, stored, instanceId, aggregateId) {
      const rule = rules.get(type);
      if (rule?.personal === undefined || stored === null || typeof stored !== "object")
        return stored;
      const { [personalMember]: sealed, ...clear } = stored as Json;
      if (typeof sealed !== "string") return clear;
      const subject = subjectOf(rule, clear, aggregateId);
      const key = await secrets.personalKey(instanceId, subject);
      if (key === undefined) return { ...clear, ...emptied(rule.personal) };
      const bytes = open(
        key,
        encryptionContextOf(instanceId, subject, type),
        Buffer.from(sealed, "base64"),
      );
      return { ...clear, ...JSON.parse(Buffer.from(bytes).toString("utf8")) };
    },
  };
}

/** The rules of all events by their type, and which events are those of users themselves: the first of them makes their key. */
function rulesOf(all: AnyEvents[]) {
  const rules = new Map<string, AnyPayload>();
  const ofUsers = new Set<string>();
  for (const set of all) {
    const { aggregateType } = set[definition];
    for (const [type, rule] of set[definition].rules) {
      if (rules.has(type)) throw new Error(`event ${type} is defined twice`);
      rules.set(type, rule);
      if (aggregateType === userType && rule.subject === undefined) ofUsers.add(type);
    }
  }
  return { rules, ofUsers };
}

const encryptionContextOf = (
  instance: string,
  { type: ownerType, id: ownerId }: Subject,
  type: string,
) => ({
  instance,
  ownerType,
  ownerId,
  kind: `event:${type}`,
});

const subjectOf = ({ subject }: AnyPayload, payload: unknown, aggregateId: string): Subject => {
  const named = subject?.(payload, aggregateId) ?? aggregateId;
  return typeof named === "string" ? { type: userType, id: named } : named;
};
