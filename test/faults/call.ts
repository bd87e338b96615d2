import type { Entry } from "./client-log.ts";

export type Call = { method: string; path: string; body?: object };

/** What a client learns from an answer; status 0 when the connection broke before all of it was here. */
export type Answer = Pick<Entry, "status" | "id" | "sequence" | "reason" | "text"> & {
  secret: string;
};

/** Calls the REST interface and gives status and body. @throws when the connection breaks */
export async function ask(url: string, token: string, { method, path, body }: Call) {
  const answer = await fetch(`${url}/resources/v3alpha${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: Object(await answer.json()) };
}

/** Calls as `ask`, and tells what is the same in every answer. */
export async function call(url: string, token: string, what: Call): Promise<Answer> {
  const none = { id: "", sequence: 0n, reason: "", text: "", secret: "" };
  try {
    const { status, json } = await ask(url, token, what);
    if (status >= 400) {
      const told: { reason?: string }[] = Array.isArray(json.details) ? json.details : [];
      const reason = told.find((each) => each.reason !== undefined)?.reason ?? "";
      return { ...none, status, reason, text: String(json.message ?? "") };
    }
    const { id = "", sequence = "0" } = json.details ?? json.target?.details ?? {};
    const secret = String(json.token ?? "");
    return { ...none, status, id: String(id), sequence: BigInt(sequence), secret };
  } catch {
    return { ...none, status: 0 };
  }
}
