import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { DomainError, invalidArgument, unavailable } from "../../errors.ts";
import { asList, asObject, asText, type Unknown } from "./record.ts";

const pollMs = 500;
// A service that is restarted comes back; its import goes on where it was.
const patienceMs = 120_000;

export type Destination = { url: string; token: string };
export type Progress = { done: number; total: number };
export type Finished = {
  id: string;
  state: string;
  created: number;
  existed: number;
  refused: number;
  errors: { type: string; id: string; reason: string; field: string; message: string }[];
};

/** Sends a body as it is made, and gives the id of the import. What breaks off here imports nothing. */
export async function sendBody(to: Destination, body: AsyncIterable<string>): Promise<string> {
  const bytes = async function* () {
    for await (const piece of body) yield Buffer.from(piece);
  };
  const answer = await call(to, "/import?awaitResponse=false", {
    method: "POST",
    body: Readable.toWeb(Readable.from(bytes())),
    duplex: "half",
  });
  return asText(asObject(answer["job"])["id"]);
}

/** Watches an import until nothing more becomes of it, also over restarts of the service. */
export async function followImport(
  to: Destination,
  id: string,
  tell: (progress: Progress) => void,
): Promise<Finished> {
  for (let lost = 0; ; await delay(pollMs)) {
    let job: Unknown;
    try {
      job = asObject((await call(to, `/import/${encodeURIComponent(id)}`))["job"]);
      lost = 0;
    } catch (error) {
      lost ||= performance.now();
      const isGone = error instanceof DomainError && error.kind === "unavailable";
      if (!isGone || performance.now() - lost > patienceMs) throw error;
      continue;
    }
    const number = (name: string) => Number(job[name] ?? 0);
    const counts = {
      created: number("created"),
      existed: number("existed"),
      refused: number("refused"),
    };
    tell({ done: counts.created + counts.existed + counts.refused, total: number("total") });
    const state = asText(job["state"]).replace("IMPORT_STATE_", "").toLowerCase();
    if (state === "running" || state === "receiving") continue;
    return { id, state, ...counts, errors: await refusedOf(to, id) };
  }
}

async function refusedOf(to: Destination, id: string): Promise<Finished["errors"]> {
  const answer = await request(to, `/import/${encodeURIComponent(id)}/report?onlyRefused=true`);
  const lines = (await answer.text()).split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const { type, id: of, reason, field, message } = asObject(JSON.parse(line));
    return {
      type: asText(type),
      id: asText(of),
      reason: asText(reason),
      field: asText(field),
      message: asText(message),
    };
  });
}

const call = async (to: Destination, path: string, more: object = {}): Promise<Unknown> =>
  asObject(await (await request(to, path, more)).json());

/**
 * @throws UNAVAILABLE SERVICE_UNREACHABLE when nobody answers, or nobody who can
 * @throws INVALID_ARGUMENT and the reason of the refusal
 */
async function request({ url, token }: Destination, path: string, more: object = {}) {
  const answer = await fetch(`${url.replace(/\/$/, "")}/management/v1${path}`, {
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...more,
  }).catch((cause: unknown) => {
    throw unavailable("SERVICE_UNREACHABLE", `${url} does not answer`, { cause });
  });
  if (answer.ok) return answer;
  const refusal = asObject(await answer.json().catch(() => ({})));
  if (answer.status >= 500) {
    throw unavailable("SERVICE_UNREACHABLE", `${url} answers ${answer.status}`);
  }
  const reasons = asList(refusal["details"]).map((detail) => asText(asObject(detail)["reason"]));
  const reason = reasons.find((each) => each !== "") ?? "IMPORT_REFUSED";
  throw invalidArgument(reason, asText(refusal["message"]) || `${url} answers ${answer.status}`);
}
