import { failedPrecondition, notFound } from "../../errors.ts";
import { aggregate } from "../../eventstore/aggregate.ts";
import { type Human, type Machine, type UserEvent, userEvents } from "./events.ts";

export type User = { type: "human" | "machine"; organizationId: string; username: string };

export const user = aggregate(userEvents, undefined as User | undefined, evolve);

function evolve(state: User | undefined, event: UserEvent): User | undefined {
  switch (event.type) {
    case "user.human.added":
    case "user.machine.added": {
      const { organizationId, username } = event.payload;
      return {
        type: event.type === "user.human.added" ? "human" : "machine",
        organizationId,
        username,
      };
    }
    case "user.human.password.changed":
    case "user.pat.added":
      return state;
    default:
      return event satisfies never;
  }
}

export function addHuman(state: User | undefined, human: Human): UserEvent[] {
  requireNew(state);
  return [userEvents["human.added"](human)];
}

export function addMachine(state: User | undefined, machine: Machine): UserEvent[] {
  requireNew(state);
  return [userEvents["machine.added"](machine)];
}

/** Announces a new password; its hash goes into the secrets of the same unit. */
export function changePassword(state: User | undefined, changeRequired: boolean): UserEvent[] {
  if (state?.type !== "human") throw notFound("USER_NOT_FOUND", "the user does not exist");
  return [userEvents["human.password.changed"]({ changeRequired })];
}

/** Announces a personal access token; its digest goes into the secrets of the same unit. */
export function addPersonalAccessToken(
  state: User | undefined,
  tokenId: string,
  expirationDate?: Date,
): UserEvent[] {
  if (state === undefined) throw notFound("USER_NOT_FOUND", "the user does not exist");
  return [userEvents["pat.added"]({ tokenId, expirationDate: expirationDate?.toISOString() })];
}

function requireNew(state: User | undefined): void {
  if (state !== undefined) throw failedPrecondition("USER_EXISTS", "a user with this id exists");
}
