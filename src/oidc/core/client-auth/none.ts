import type { Parameters } from "../form.ts";

/** A client that only names itself: it has no secret, and proves by PKCE what it must. */
export const readNone = (form: Parameters): { clientId: string } | undefined => {
  const clientId = form.get("client_id");
  return clientId === undefined ? undefined : { clientId };
};
