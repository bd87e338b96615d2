import type { LoggedEvent } from "../../eventstore/eventstore.ts";
import type { Authenticator } from "./authenticator/authenticators.ts";
import { effectOf } from "./authenticator/events.ts";
import type { UserEvent } from "./events.ts";

type Made = { makerId: string; createdAt: Date };

/** Who answers for the holds on a user, and whether somebody who is not trusted could ever act as them. */
export type HoldMakers = { made: ReadonlyMap<string, Made>; wasHeld: boolean };

const single: ReadonlySet<string> = new Set(["password", "recovery_codes", "secret"]);

export const holdId = ({ kind, id }: Pick<Authenticator, "kind" | "id">): string =>
  single.has(kind) ? kind : `${kind}/${id}`;

/** What alone lets somebody act as the user: not what counts only beside something else. */
const logsIn = /^(?:password|secret|(?:pat|key|web_authn|idp)\/)/;

/**
 * Who made each hold last, by the user's own history. While somebody who is not trusted has a hold that lets them act as
 * the user, what is made in the user's name counts as made by them: nobody can tell the two apart. Whoever sets a password
 * of their own is out of a hold by the password that others set before.
 *
 * @param keep holds that the giver of the new power answers for
 */
export async function holdMakers(
  history: readonly LoggedEvent[],
  by: { userId: string; trusts(makerId: string): Promise<boolean>; keep: readonly string[] },
): Promise<HoldMakers> {
  const { userId, trusts, keep } = by;
  const made = new Map<string, Made>();
  const foreign = new Map<string, string>();
  let wasHeld = false;
  for (const { editorId, createdAt, ...event } of history) {
    // The stream of a user holds only events of users.
    const one = event as unknown as UserEvent;
    const ended = authenticatorOf(one, "remove");
    if (ended !== undefined) foreign.delete(ended);
    const id = madeBy(one);
    if (id === undefined) continue;
    const isOwn = editorId === userId;
    if (isOwn && id === "password") foreign.delete(id);
    const [other] = isOwn ? foreign.values() : [];
    const makerId = other ?? editorId;
    made.set(id, { makerId, createdAt });
    if (!logsIn.test(id)) continue;
    if (makerId === userId || keep.includes(id) || (await trusts(makerId))) foreign.delete(id);
    else {
      foreign.set(id, makerId);
      wasHeld = true;
    }
  }
  return { made, wasHeld };
}

function madeBy(event: UserEvent): string | undefined {
  switch (event.type) {
    case "user.human.added":
    case "user.human.email.changed":
      return "email";
    case "user.human.phone.changed":
      return "phone";
    default:
      return authenticatorOf(event, "add");
  }
}

/** Which of the user's authenticators an event adds or removes, if it does that. */
function authenticatorOf(event: UserEvent, does: "add" | "remove"): string | undefined {
  const effect = effectOf(event);
  if (effect?.does !== does) return undefined;
  return holdId({ kind: effect.kind, id: effect.id(event.payload) });
}
