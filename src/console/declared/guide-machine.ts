import type { JsonObject } from "@bufbuild/protobuf";
import { type Sample, shellQuoted, textAt } from "./declare.ts";
import { isMachine } from "./person-credentials.ts";

/** How a program gets a token as a machine, and what it may do with it; none for people. */
export function machineGuideOf(object: JsonObject, issuer: string): readonly Sample[] {
  if (!isMachine(object)) return [];
  const client = shellQuoted(`client_id=${textAt(object, "user.username")}`);
  const text = `token=$(curl -s --data-urlencode ${client} --data-urlencode client_secret="$CLIENT_SECRET" \\
  -d grant_type=client_credentials -d scope="openid urn:idsvc:iam:org:project:id:idsvc:aud" \\
  ${issuer}/oauth/v2/token | jq -r .access_token)
curl -s -H "Authorization: Bearer $token" ${issuer}/resources/v3alpha/auth/permissions`;
  return [{ name: "Bash: curl, jq", text }];
}
