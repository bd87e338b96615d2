import { onlySecretOf, onlySecretReader } from "../../../eventstore/secret-store.ts";

/** What calls of a target are signed with. */
export const signingKeyRef = onlySecretOf("target", "signing_key");
export const signingKeyReader = onlySecretReader(signingKeyRef);
