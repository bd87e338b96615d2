import { describe, OAuthError } from "../errors.ts";
import { type Note, noStore, type OidcAnswer, type OidcRequest } from "../http.ts";
import type { At, Client, Ports } from "../ports.ts";
import { AuthorizationRefused, refuse } from "./refusal.ts";
import { type Destination, errorFields, respond } from "./respond.ts";

/** Where errors go from now on: the redirect URI is proven to be the client's. */
type ToClient = (destination: Destination, client: Pick<Client, "clientId">) => void;

type Work = (toClient: ToClient, note: (reason: string) => void) => Promise<OidcAnswer>;

/**
 * Answers whatever happens: errors go to the client once it is proven, and before that to a page of our own. What the
 * log should know goes along as a note.
 */
export async function answering(
  interactions: Ports["interactions"],
  at: At,
  request: OidcRequest,
  work: Work,
): Promise<OidcAnswer> {
  let destination: Destination | undefined;
  let clientId: string | undefined;
  const noted: string[] = [];
  const noteOf = (error?: string, reason?: string): Note => ({
    clientId,
    error,
    reason: [...(reason === undefined ? [] : [reason]), ...noted].join("; "),
  });
  try {
    const answer = await work(
      (known, client) => {
        destination = known;
        ({ clientId } = client);
      },
      (reason) => void noted.push(reason),
    );
    return noted.length === 0 ? answer : { ...answer, note: noteOf() };
  } catch (error) {
    if (error instanceof AuthorizationRefused && destination !== undefined) {
      const answer = await respond(interactions, at, destination, errorFields(error), request);
      return { ...answer, note: noteOf(error.code, error.message) };
    }
    if (!(error instanceof OAuthError)) {
      if (destination === undefined) throw error;
      // The client hears that it was not its fault; what it was is for the log.
      const failed = refuse("server_error", "the request could not be answered: try again");
      const answer = await respond(interactions, at, destination, errorFields(failed), request);
      return { ...answer, cause: error };
    }
    const { code, message, status, about } = error;
    const problem = { code, description: describe(message), status, about };
    const page = await interactions.errorPage(at, problem, request.headers);
    const note = noteOf(code, message);
    return { status, ...page, headers: { ...noStore, ...page.headers }, note };
  }
}
