import type { Scope } from "../../../src/authz/context.ts";
import type { LoggedEvent } from "../../../src/eventstore/eventstore.ts";
import { invariantsBroken } from "./invariants.ts";
import { noticesTried } from "./mailbox.ts";
import { addAll, beyond, powerOf, withOwners } from "./power.ts";
import type { World } from "./world.ts";

/** A bearer token that the attacker holds, and whom the service took it for last. */
type Held = { name: string; token: string; subject: string | undefined; misses: number };

// Whoever is nobody so often in a row is looked at again at the end.
const mostMisses = 3;

// What can move power to a token that is already held.
const movesPower =
  /member|grant|consent|api_access|maker|\.(?:activated|reactivated|unlocked|accepted|confirmed)$|settings|login\./;

/** Judges after each step whether the attacker holds what nobody gave them. */
export class Watch {
  readonly #world: World;
  readonly #held = new Map<string, Held>();
  #after = 0n;

  constructor(world: World) {
    this.#world = world;
  }

  /** What is there at first is the attacker's. */
  async begin(): Promise<void> {
    await this.#newEvents();
    for (const name of this.#world.book.of("bearer")) {
      this.#hold(name);
    }
    for (const held of this.#held.values()) await this.#judge(held);
  }

  /** Whom a token of the attacker is for. */
  subjectOf(token: string): string | undefined {
    return this.#held.get(token)?.subject;
  }

  /** What has been broken by a step in which the attacker learned these tokens. */
  async after(learned: readonly string[], isOthers: boolean): Promise<string[]> {
    const events = await this.#newEvents();
    const fresh = learned.map((name) => this.#hold(name)).filter((each) => each !== undefined);
    const isMoved = events.some(({ type }) => movesPower.test(type));
    const broken: string[] = [];
    const living = [...this.#held.values()].filter(({ misses }) => misses < mostMisses);
    for (const held of isMoved ? living : fresh) {
      broken.push(...(await this.#judge(held)));
    }
    for (const held of fresh) broken.push(...(await this.#abroad(held)));
    broken.push(
      ...(await invariantsBroken(this.#world, events, { isOthers, fresh: tokensOf(fresh) })),
    );
    return broken;
  }

  /** All that is held is looked at once more, when what was left to jobs is done. */
  async end(): Promise<string[]> {
    await noticesTried(this.#world);
    const broken = await this.after([], true);
    for (const held of this.#held.values()) broken.push(...(await this.#judge(held)));
    return broken;
  }

  #hold(name: string): Held | undefined {
    const token = this.#world.book.textOf(name);
    if (this.#held.has(token)) return undefined;
    const held: Held = { name, token, subject: undefined, misses: 0 };
    this.#held.set(token, held);
    return held;
  }

  async #newEvents(): Promise<LoggedEvent[]> {
    const { service, instanceId } = this.#world;
    const events = await service.deps.events.read({ instanceId, after: this.#after });
    const last = events.at(-1);
    if (last !== undefined) this.#after = last.sequence;
    return events;
  }

  async #judge(held: Held): Promise<string[]> {
    const { service, host, places, allowed, book } = this.#world;
    const scope = await service.whoIs(host, held.token);
    held.misses = scope === undefined ? held.misses + 1 : 0;
    if (scope === undefined) {
      // Nothing is tried with what nobody is known by.
      book.forget("bearer", held.name);
      book.forget("own_bearer", held.name);
      return [];
    }
    const { caller } = scope;
    if (caller.kind !== "user") return [`${held.name} is a token of a system caller`];
    held.subject = caller.userId;
    this.#world.subjects.set(held.name, book.nameOf(caller.userId) ?? "");
    const power = powerOf(scope.permissions, places);
    await this.#giveConsented(scope, power);
    const more = beyond(power, allowed);
    if (more.length === 0) return [];
    const whose = book.nameOf(caller.userId) ?? caller.userId;
    return [
      `power: ${held.name}, a ${caller.tokenKind} of ${whose}, gives ${more.slice(0, 3).join(", ")}${more.length > 3 ? ` and ${more.length - 3} more` : ""}`,
    ];
  }

  /** Who let an app act for them in their organization gave what they have there, and so what they may give there. */
  async #giveConsented({ caller }: Scope, power: ReadonlySet<string>): Promise<void> {
    if (caller.kind !== "user" || caller.limit === undefined) return;
    const { service, host, instanceId, people, consents, allowed, places } = this.#world;
    const person = [...people.values()].find(({ id }) => id === caller.userId);
    if (person === undefined) return;
    const { clientId = "", organizationId } = caller;
    if (consents.get(`${person.name} ${clientId}`)?.choices.has("organization") !== true) return;
    const client = await service.ports.clients.byId(service.atOf(instanceId, host), clientId);
    if (client?.organizationId !== organizationId) return;
    const inside = places.filter(({ place }) =>
      "organizationId" in place
        ? place.organizationId === organizationId
        : "id" in place && place.id === organizationId,
    );
    const names = new Set(inside.map(({ name }) => name));
    const there = [...power].filter((pair) => names.has(pair.slice(pair.indexOf(" at ") + 4)));
    addAll(allowed, withOwners(new Set(there), places));
  }

  /** Tokens of one instance hold on no other. */
  async #abroad(held: Held): Promise<string[]> {
    const { service } = this.#world;
    const scope = await service.whoIs(`localhost:${service.port}`, held.token);
    return scope === undefined ? [] : [`${held.name} holds on another instance`];
  }
}

const tokensOf = (held: readonly Held[]): string[] => held.map(({ token }) => token);
