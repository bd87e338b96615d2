import type { JsonObject } from "@bufbuild/protobuf";
import { at, type Sample, textAt } from "./declare.ts";
import {
  type Client,
  goProgram,
  javaProgram,
  nodeProgram,
  page,
  pythonProgram,
} from "./guide-programs.ts";

const scope = "openid profile email";

const proofs: Readonly<Record<string, Client["proof"]>> = {
  OIDC_AUTH_METHOD_TYPE_BASIC: "basic",
  OIDC_AUTH_METHOD_TYPE_POST: "post",
  OIDC_AUTH_METHOD_TYPE_NONE: "none",
};

/** Whether an application proves itself by a secret: not by a key, and not by nothing at all. */
export function provesBySecret(object: JsonObject): boolean {
  const method = textAt(object, "app.oidc.auth_method_type");
  if (method !== "") return ["basic", "post"].includes(proofs[method] ?? "");
  return !textAt(object, "app.api.auth_method_type").endsWith("_PRIVATE_KEY_JWT");
}

const first = (object: JsonObject, path: string): string => {
  const [value] = [at(object, path)].flat();
  return typeof value === "string" ? value : "";
};

/**
 * How an application is set up, by its kind: the variables that most frameworks read, and whole programs that people log in
 * to. A secret stands in none of them: programs read it from where they are run.
 */
export function guideOf(object: JsonObject, issuer: string): readonly Sample[] {
  const id = textAt(object, "client_id");
  const proof = proofs[textAt(object, "app.oidc.auth_method_type")];
  if (at(object, "app.oidc") === undefined) {
    const isByKey = textAt(object, "app.api.auth_method_type").endsWith("_PRIVATE_KEY_JWT");
    return [variables(issuer, id), ...(isByKey ? [] : [introspection(issuer, id)])];
  }
  const grants = JSON.stringify(at(object, "app.oidc.grant_types"));
  if (grants.includes("DEVICE_CODE")) {
    return [variables(issuer, id), ...(proof === undefined ? [] : [device(issuer, id, proof)])];
  }
  const redirect = first(object, "app.oidc.redirect_uris");
  const common = variables(issuer, id, redirect);
  // A program here is one that a browser comes back to.
  if (proof === undefined || !/^https?:/.test(redirect)) return [common];
  const client = { issuer, id, scope, redirect, proof };
  if (textAt(object, "app.oidc.app_type") === "OIDC_APP_TYPE_USER_AGENT") {
    return [common, ...(proof === "none" ? [page(client)] : [])];
  }
  const programs = [nodeProgram, pythonProgram, goProgram, javaProgram];
  return [common, ...programs.flatMap((each) => each(client))];
}

const variables = (issuer: string, client: string, redirect = ""): Sample => ({
  name: "OpenID Connect",
  text: [
    `OIDC_ISSUER=${issuer}`,
    `OIDC_DISCOVERY=${issuer}/.well-known/openid-configuration`,
    `OIDC_CLIENT_ID=${client}`,
    ...(redirect === "" ? [] : [`OIDC_REDIRECT_URI=${redirect}`, `OIDC_SCOPE="${scope}"`]),
  ].join("\n"),
});

/** Somebody agrees in a browser to what this begins, within five minutes. */
function device(issuer: string, client: string, proof: Client["proof"]): Sample {
  const who = {
    basic: `-u "${client}:$OIDC_CLIENT_SECRET"`,
    post: `-d client_id=${client} -d client_secret="$OIDC_CLIENT_SECRET"`,
    none: `-d client_id=${client}`,
  }[proof];
  return {
    name: "Bash: curl, jq",
    text: `begun=$(curl -s ${who} -d scope="${scope}" ${issuer}/oauth/v2/device_authorization)
echo "Open $(jq -r .verification_uri_complete <<< "$begun") and agree"
for _ in {1..60}; do
  sleep 5
  tokens=$(curl -sf ${who} -d grant_type=urn:ietf:params:oauth:grant-type:device_code \
    -d device_code="$(jq -r .device_code <<< "$begun")" ${issuer}/oauth/v2/token) && break
done
curl -s -H "Authorization: Bearer $(jq -r .access_token <<< "$tokens")" ${issuer}/oidc/v1/userinfo`,
  };
}

const introspection = (issuer: string, client: string): Sample => ({
  name: "curl",
  text: `curl -u "${client}:$CLIENT_SECRET" -d token="$TOKEN" ${issuer}/oauth/v2/introspect`,
});
