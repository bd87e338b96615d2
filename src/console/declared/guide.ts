import type { JsonObject } from "@bufbuild/protobuf";
import { at, type Sample, textAt } from "./declare.ts";

const scope = "openid profile email";

const first = (object: JsonObject, path: string, other: string): string => {
  const [value] = [at(object, path)].flat();
  return typeof value === "string" ? value : other;
};

/**
 * What an application is set up with, by its kind: the variables that most frameworks read, and the lines that the widely used ones
 * take. A secret stands in none of them: programs read it from where they are run.
 */
export function guideOf(object: JsonObject, issuer: string): readonly Sample[] {
  const client = textAt(object, "client_id");
  if (at(object, "app.oidc") === undefined) return ofApi(issuer, client);
  const redirect = first(object, "app.oidc.redirect_uris", "https://app.example/callback");
  const grants = JSON.stringify(at(object, "app.oidc.grant_types"));
  if (grants.includes("DEVICE_CODE")) return [ofDevice(issuer, client)];
  const common = [addresses(issuer, client, redirect)];
  switch (textAt(object, "app.oidc.app_type")) {
    case "OIDC_APP_TYPE_USER_AGENT":
      return [...common, ofBrowser(issuer, client, redirect)];
    case "OIDC_APP_TYPE_NATIVE":
      return [...common, ofNative(issuer, client, redirect)];
    default:
      return [
        ...common,
        ...nodeProgram(object, issuer, redirect),
        ...ofServer(issuer, client, redirect),
      ];
  }
}

const addresses = (issuer: string, client: string, redirect: string): Sample => ({
  name: "OpenID Connect",
  text: `OIDC_ISSUER=${issuer}
OIDC_DISCOVERY=${issuer}/.well-known/openid-configuration
OIDC_CLIENT_ID=${client}
OIDC_REDIRECT_URI=${redirect}
OIDC_SCOPE="${scope}"`,
});

/** How openid-client proves an application, by its method of proof; a key needs a file beside the program. */
const proofs: Readonly<Record<string, string>> = {
  OIDC_AUTH_METHOD_TYPE_BASIC: "oidc.ClientSecretBasic(process.env.OIDC_CLIENT_SECRET)",
  OIDC_AUTH_METHOD_TYPE_POST: "oidc.ClientSecretPost(process.env.OIDC_CLIENT_SECRET)",
  OIDC_AUTH_METHOD_TYPE_NONE: "oidc.None()",
};

const isPlain = (issuer: string): boolean => issuer.startsWith("http:");

/** A whole program that people log in to, unless the application proves itself by a key. */
function nodeProgram(object: JsonObject, issuer: string, redirect: string): Sample[] {
  const proof = proofs[textAt(object, "app.oidc.auth_method_type")];
  if (proof === undefined) return [];
  const { origin = "", port = "" } = URL.parse(redirect) ?? {};
  const text = `import * as oidc from "openid-client"; // npm install openid-client
import { createServer } from "node:http";

// ${proof.includes("SECRET") ? "OIDC_CLIENT_SECRET=... " : ""}node app.mjs, then open ${origin}

const redirectUri = ${JSON.stringify(redirect)};
const config = await oidc.discovery(
  new URL(${JSON.stringify(issuer)}),
  ${JSON.stringify(textAt(object, "client_id"))},
  {},
  ${proof},${
    isPlain(issuer)
      ? "\n  { execute: [oidc.allowInsecureRequests] }, // without TLS: for development only"
      : ""
  }
);

async function answer(request, response) {
  const url = new URL(request.url, redirectUri);
  if (url.searchParams.has("state")) {
    const [, expectedState, pkceCodeVerifier] =
      /login=([\\w-]+)\\.([\\w-]+)/.exec(request.headers.cookie) ?? [];
    const tokens = await oidc.authorizationCodeGrant(config, url, { expectedState, pkceCodeVerifier });
    const person = await oidc.fetchUserInfo(config, tokens.access_token, tokens.claims().sub);
    return response.end(\`Signed in: \${JSON.stringify(person, undefined, 2)}\`);
  }
  const [state, codeVerifier] = [oidc.randomState(), oidc.randomPKCECodeVerifier()];
  const location = oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: "${scope}",
    state,
    code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: "S256",
  });
  const cookie = \`login=\${state}.\${codeVerifier}; HttpOnly; SameSite=Lax; Path=/\`;
  response.writeHead(302, { location: location.href, "set-cookie": cookie }).end();
}

createServer((request, response) =>
  answer(request, response).catch((error) => response.writeHead(500).end(String(error))),
).listen(${port || "3000"});`;
  return [{ name: "Node.js: openid-client", text }];
}

const ofServer = (issuer: string, client: string, redirect: string): Sample[] => [
  {
    name: "Python: Authlib",
    text: `oauth.register(
    "idsvc",
    server_metadata_url=${JSON.stringify(`${issuer}/.well-known/openid-configuration`)},
    client_id=${JSON.stringify(client)},
    client_secret=os.environ["OIDC_CLIENT_SECRET"],
    client_kwargs={"scope": "${scope}", "code_challenge_method": "S256"},
)${isPlain(issuer) ? "  # without TLS, for development only: AUTHLIB_INSECURE_TRANSPORT=1" : ""}`,
  },
  {
    name: "Go: go-oidc",
    text: `provider, err := oidc.NewProvider(ctx, ${JSON.stringify(issuer)})
config := oauth2.Config{
	ClientID:     ${JSON.stringify(client)},
	ClientSecret: os.Getenv("OIDC_CLIENT_SECRET"),
	Endpoint:     provider.Endpoint(),
	RedirectURL:  ${JSON.stringify(redirect)},
	Scopes:       []string{"openid", "profile", "email"},
}`,
  },
  {
    name: "Java: Spring Boot",
    text: `spring:
  security:
    oauth2:
      client:
        registration:
          idsvc:
            client-id: ${JSON.stringify(client)}
            client-secret: \${OIDC_CLIENT_SECRET}
            redirect-uri: ${JSON.stringify(redirect)}
            scope: openid, profile, email
        provider:
          idsvc:
            issuer-uri: ${issuer}`,
  },
  {
    name: "C#: ASP.NET Core",
    text: `builder.Services.AddAuthentication().AddOpenIdConnect(options =>
{
    options.Authority = ${JSON.stringify(issuer)};
    options.ClientId = ${JSON.stringify(client)};
    options.ClientSecret = builder.Configuration["OIDC_CLIENT_SECRET"];
    options.CallbackPath = new Uri(${JSON.stringify(redirect)}).AbsolutePath;
    options.ResponseType = "code";${
      isPlain(issuer)
        ? "\n    options.RequireHttpsMetadata = false; // without TLS: for development only"
        : ""
    }
});`,
  },
];

const ofBrowser = (issuer: string, client: string, redirect: string): Sample => ({
  name: "JavaScript: oidc-client-ts",
  text: `// npm install oidc-client-ts
import { UserManager } from "oidc-client-ts";

const users = new UserManager({
  authority: ${JSON.stringify(issuer)},
  client_id: ${JSON.stringify(client)},
  redirect_uri: ${JSON.stringify(redirect)},
  scope: "${scope}",
});
const isBack = new URLSearchParams(location.search).has("state");
const user = isBack ? await users.signinRedirectCallback() : await users.getUser();
if (user) console.log("Signed in", user.profile);
else await users.signinRedirect();`,
});

const ofNative = (issuer: string, client: string, redirect: string): Sample => ({
  name: "Android, iOS: AppAuth",
  text: `{
  "issuer": ${JSON.stringify(issuer)},
  "client_id": ${JSON.stringify(client)},
  "redirect_uri": ${JSON.stringify(redirect)},
  "authorization_scope": "${scope}"
}`,
});

const ofDevice = (issuer: string, client: string): Sample => ({
  name: "curl",
  text: `curl -d client_id=${client} -d scope="openid" ${issuer}/oauth/v2/device_authorization`,
});

const ofApi = (issuer: string, client: string): Sample[] => [
  {
    name: "curl",
    text: `curl -u "${client}:$CLIENT_SECRET" -d token="$TOKEN" ${issuer}/oauth/v2/introspect`,
  },
];
