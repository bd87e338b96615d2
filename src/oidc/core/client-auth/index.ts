import { OAuthError, invalidRequest } from "../errors.ts";
import type { Parameters } from "../form.ts";
import type { OidcRequest } from "../http.ts";
import type { At, AuthMethod, Client, Machine, Ports, Spend } from "../ports.ts";
import { readBasic } from "./basic.ts";
import { readNone } from "./none.ts";
import { readPost } from "./post.ts";
import { subjectOfAssertion } from "../assertion.ts";
import { readClientAssertion, verifyClientAssertion } from "./private-key-jwt.ts";

/** The methods by the names of the registry (discovery tells them). */
export const authMethodNames: Record<AuthMethod, string> = {
  none: "none",
  basic: "client_secret_basic",
  post: "client_secret_post",
  private_key_jwt: "private_key_jwt",
};

/** What a client shows of itself, before any of it is checked. */
export type Credentials =
  | { method: "basic" | "post"; clientId: string; secret: string }
  | { method: "none"; clientId: string }
  | { method: "private_key_jwt"; assertion: string; clientId: string | undefined };

/** A client that has proven itself, or may only name itself; `spend` is what its proof uses up. */
export type AuthenticatedClient = {
  client: Client;
  hasProven: boolean;
  spend: Extract<Spend, { kind: "assertion" }>[];
};

/**
 * The one way by which a request authenticates its client (RFC 6749 section 2.3).
 * @throws OAuthError invalid_request for more than one way at once, invalid_client for none
 */
export function readCredentials(request: OidcRequest, form: Parameters): Credentials {
  if ((request.headers.count?.("authorization") ?? 1) > 1) {
    throw invalidRequest("send one Authorization header");
  }
  const basic = readBasic(request);
  const post = readPost(form);
  const assertion = readClientAssertion(form);
  const ways = [basic, post, assertion].filter((each) => each !== undefined);
  if (ways.length > 1) throw invalidRequest("authenticate the client in one way only");
  const clientId = form.get("client_id");
  if (basic !== undefined) {
    if (basic === "malformed") {
      throw invalidClient(true, { detail: "the Authorization header holds no id and secret" });
    }
    if (clientId !== undefined && clientId !== basic.clientId) {
      throw invalidRequest("the parameter client_id names another client than the header");
    }
    return { method: "basic", ...basic };
  }
  if (post !== undefined) return { method: "post", ...post };
  if (assertion !== undefined) return { method: "private_key_jwt", assertion, clientId };
  const none = readNone(form);
  if (none === undefined) throw invalidClient(false, { detail: "no credentials were sent" });
  return { method: "none", ...none };
}

/**
 * Proves that a request comes from the client it names, by the method the client is registered with.
 * @throws OAuthError invalid_client, the same one whatever is wrong
 */
export async function authenticateClient(
  ports: Pick<Ports, "clients" | "now">,
  at: At,
  credentials: Credentials,
): Promise<AuthenticatedClient> {
  const { clients } = ports;
  const { method } = credentials;
  if (method === "private_key_jwt") {
    const { assertion, clientId } = credentials;
    const verified = await verifyClientAssertion(ports, at, assertion, clientId);
    if ("unproven" in verified) {
      const named = clientId ?? subjectOfAssertion(assertion);
      const client = await clients.byId(at, clientId ?? "");
      throw invalidClient(false, { client, clientId: named, detail: verified.unproven });
    }
    return { client: verified.client, hasProven: true, spend: [verified.spend] };
  }
  const client = await clients.byId(at, credentials.clientId);
  // Asked of unknown clients as well: the answer takes the same time.
  const isRight = method === "none" || (await clients.isSecret(at, client, credentials.secret));
  if (isRight && client?.authMethod === method) {
    return { client, hasProven: method !== "none", spend: [] };
  }
  const detail = whyNot(client, method);
  throw invalidClient(method === "basic", { client, clientId: credentials.clientId, detail });
}

function whyNot(client: Client | undefined, method: AuthMethod): string {
  if (client === undefined) {
    return "no active app has the client id, and no machine user proves itself by it and the secret";
  }
  if (client.authMethod === method) return "the secret is wrong";
  const [sent, registered] = [authMethodNames[method], authMethodNames[client.authMethod]];
  return `it sent ${sent}, and is registered for ${registered}`;
}

/**
 * The machine user whose client id and secret these are: users without an app are clients by themselves.
 */
export async function authenticateMachine(
  { users }: Pick<Ports, "users">,
  at: At,
  credentials: Credentials,
): Promise<{ user: Machine; clientId: string } | undefined> {
  if (credentials.method !== "basic" && credentials.method !== "post") return undefined;
  const { clientId, secret } = credentials;
  const user = await users.byClientSecret(at, clientId, secret);
  return user && { user, clientId };
}

/** Which client has not proven itself, as far as that is known, and why: for the log alone. */
type Refused = { client?: Client | undefined; clientId?: string | undefined; detail: string };

/** A client has not proven itself; which one is told to nobody. */
export class ClientRefused extends OAuthError {
  readonly client: Client | undefined;

  constructor({ client, ...facts }: Refused, headers: Record<string, string>) {
    const description = "the client is unknown, inactive, or has not proven itself";
    super("invalid_client", description, { status: 401, headers, ...facts });
    this.client = client;
  }
}

/** An assertion counts once. */
export const assertionUsed = "the assertion was used before";

/** The one answer to a client that has not proven itself (RFC 6749 section 5.2). */
export const invalidClient = (byHeader: boolean, about: Refused): ClientRefused =>
  new ClientRefused(
    about,
    byHeader ? { "www-authenticate": 'Basic realm="idsvc", charset="UTF-8"' } : {},
  );
