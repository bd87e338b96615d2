import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

// A stand-in for a forge, a provider of OpenID Connect: it asks who you are, and believes it. docs/use.md ("Identity
// providers") says how to define it.

const { PORT = "4000", CLIENT_ID = "idsvc", CLIENT_SECRET = "from the forge" } = process.env;
const issuer = `http://localhost:${PORT}`;
const people: Record<string, { sub: string; given_name: string; family_name: string }> = {
  ada: { sub: "4711", given_name: "Ada", family_name: "Lovelace" },
  mona: { sub: "4712", given_name: "Mona", family_name: "Lisa" },
};
const { publicKey, privateKey } = await generateKeyPair("RS256");
const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "RS256", use: "sig" }] };

type Login = { name: string; nonce: string; challenge: string; redirectUri: string };
const codes = new Map<string, Login>();
const tokens = new Map<string, string>();

const claimsOf = (name: string) => ({
  ...people[name],
  preferred_username: name,
  email: `${name}@forge.example`,
  email_verified: true,
});

/** Asks who you are; each answer leads back with a code. */
function ask({ searchParams }: URL, response: ServerResponse): void {
  const get = (name: string) => searchParams.get(name) ?? "";
  const links = Object.keys(people).map((name) => {
    const code = randomUUID();
    const redirectUri = get("redirect_uri");
    codes.set(code, { name, nonce: get("nonce"), challenge: get("code_challenge"), redirectUri });
    const back = new URLSearchParams({ code, state: get("state") });
    return `<p><a id="${name}" href="${redirectUri}?${String(back).replaceAll("&", "&amp;")}">${name}</a>`;
  });
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
  response.end(`<!doctype html><title>Our forge</title><h1>Who are you?</h1>${links.join("")}`);
}

/** Tokens for a code: once, and only for the client that it was made for. */
async function redeem(request: IncomingMessage): Promise<object | undefined> {
  const form = new URLSearchParams(await text(request));
  const [, basic = ""] = (request.headers.authorization ?? "").split(" ");
  const encoded = [CLIENT_ID, CLIENT_SECRET].map((each) =>
    String(new URLSearchParams({ "": each })),
  );
  const client = encoded.map((each) => each.slice(1)).join(":");
  const login = codes.get(form.get("code") ?? "");
  codes.delete(form.get("code") ?? "");
  const verifier = form.get("code_verifier") ?? "";
  const isProven =
    Buffer.from(basic, "base64").toString() === client &&
    login?.redirectUri === form.get("redirect_uri") &&
    login?.challenge === createHash("sha256").update(verifier).digest("base64url");
  if (login === undefined || !isProven) return undefined;
  const { name, nonce } = login;
  const token = randomUUID();
  tokens.set(token, name);
  const idToken = await new SignJWT({ ...claimsOf(name), nonce })
    .setProtectedHeader({ alg: "RS256", kid: "1" })
    .setIssuer(issuer)
    .setAudience(CLIENT_ID)
    .setIssuedAt()
    .setExpirationTime("5m")
    .sign(privateKey);
  return { access_token: token, token_type: "Bearer", id_token: idToken };
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", issuer);
  const tell = (body: object | undefined) => {
    response.writeHead(body ? 200 : 400, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? { error: "invalid_grant" }));
  };
  switch (url.pathname) {
    case "/.well-known/openid-configuration":
      return tell({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
      });
    case "/keys":
      return tell(keys);
    case "/authorize":
      return ask(url, response);
    case "/token":
      return tell(await redeem(request));
    case "/userinfo": {
      const name = tokens.get((request.headers.authorization ?? "").replace("Bearer ", ""));
      return tell(name === undefined ? undefined : claimsOf(name));
    }
    default:
      response.writeHead(404).end();
  }
}

createServer((request, response) => {
  serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
}).listen(Number(PORT), "localhost", () => console.log(`the forge is at ${issuer}`));
