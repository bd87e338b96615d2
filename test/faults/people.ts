import type { Answer, Call } from "./call.ts";
import type { Entry } from "./client-log.ts";

/** What a writer calls, and how it notes what came of it. */
export type Caller = {
  write(op: Entry["op"], id: string, request: (mark: string) => Call): Promise<Entry>;
  /** The answer to a call with a token of one's own. */
  use(token: string, what: Call): Promise<Answer>;
  note(entry: Entry): void;
  /** Whether all calls go to one process, which knows at once what it has acknowledged. */
  isAlone: boolean;
};

const role = "reader";
const pick = (all: readonly string[]): string | undefined =>
  all[Math.floor(Math.random() * all.length)];

/**
 * The steps of one writer on users with names that are unique, their tokens, sessions and grants. Some names are wanted by all
 * writers.
 */
export function createPeople(): { step(caller: Caller): Promise<void> } {
  const users: string[] = [];
  const sessions: string[] = [];
  const grants: string[] = [];
  let project: string | undefined;

  async function addUser({ write }: Caller): Promise<void> {
    const nameOf = (mark: string) =>
      Math.random() < 0.2 ? `wanted-by-all-${Math.floor(Math.random() * 5)}` : mark;
    const made = await write("add user", "", (mark) => ({
      method: "POST",
      path: "/users",
      body: { username: nameOf(mark), schema_id: "machine", data: { name: mark } },
    }));
    if (made.outcome === "acknowledged") users.push(made.id);
  }

  async function removeUser({ write }: Caller, id: string): Promise<void> {
    users.splice(users.indexOf(id), 1);
    await write("remove user", id, () => ({ method: "DELETE", path: `/users/${id}` }));
  }

  async function addToken(caller: Caller, id: string): Promise<void> {
    const path = `/users/${id}/personal_access_tokens`;
    const made = await caller.write("add token", id, () => ({ method: "POST", path, body: {} }));
    if (made.outcome !== "acknowledged" || !made.secret || !caller.isAlone) return;
    const answer = await caller.use(made.secret, { method: "GET", path: `/users/${id}` });
    const outcome = answer.status === 401 ? "refused" : "acknowledged";
    caller.note({ ...answer, op: "use token", mark: made.mark, outcome, id });
  }

  async function openSession({ write }: Caller, user_id: string): Promise<void> {
    const body = { checks: { user: { user_id } } };
    const opened = await write("open session", "", () => ({
      method: "POST",
      path: "/sessions",
      body,
    }));
    if (opened.outcome === "acknowledged") sessions.push(opened.id);
  }

  async function endSession({ write }: Caller): Promise<void> {
    const id = sessions.shift();
    if (id === undefined) return;
    await write("end session", id, () => ({ method: "DELETE", path: `/sessions/${id}` }));
  }

  /** A project whose role can be given; the same from then on. */
  async function projectOf({ write }: Caller): Promise<string | undefined> {
    if (project !== undefined) return project;
    const made = await write("add project", "", (mark) => ({
      method: "POST",
      path: "/projects",
      body: { name: mark },
    }));
    if (made.outcome !== "acknowledged") return undefined;
    const body = { project_id: made.id, key: role, display_name: "Reader" };
    const added = await write("add role", "", () => ({
      method: "POST",
      path: "/project_roles",
      body,
    }));
    return added.outcome === "acknowledged" ? (project = made.id) : undefined;
  }

  async function giveGrant(caller: Caller, user_id: string): Promise<void> {
    const project_id = await projectOf(caller);
    if (project_id === undefined) return;
    const body = { user_id, project_id, role_keys: [role] };
    const given = await caller.write("give grant", "", () => ({
      method: "POST",
      path: "/user_grants",
      body,
    }));
    if (given.outcome === "acknowledged") grants.push(given.id);
  }

  async function takeGrant({ write }: Caller): Promise<void> {
    const id = grants.shift();
    if (id === undefined) return;
    await write("take grant", id, () => ({ method: "DELETE", path: `/user_grants/${id}` }));
  }

  return {
    async step(caller) {
      const user = pick(users);
      const dice = Math.random();
      if (user === undefined || dice < 0.3) return addUser(caller);
      if (dice < 0.4) return removeUser(caller, user);
      if (dice < 0.55) return addToken(caller, user);
      if (dice < 0.7) return openSession(caller, user);
      if (dice < 0.78) return endSession(caller);
      if (dice < 0.92) return giveGrant(caller, user);
      return takeGrant(caller);
    },
  };
}
