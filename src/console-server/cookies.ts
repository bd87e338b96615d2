import { readCookie } from "../login/agents.ts";

/**
 * A cookie that no page can read. Under TLS its name binds it to the host: no neighbour and no cleartext can plant one
 * (RFC 6265bis section 4.1.3.2).
 */
export function hostCookie(name: string, sameSite: "Strict" | "Lax") {
  const nameFor = (isTls: boolean) => (isTls ? `__Host-${name}` : name);
  const set = (value: string, isTls: boolean, maxAgeSeconds: number) =>
    [
      `${nameFor(isTls)}=${value}`,
      "Path=/",
      `Max-Age=${maxAgeSeconds}`,
      "HttpOnly",
      `SameSite=${sameSite}`,
      ...(isTls ? ["Secure"] : []),
    ].join("; ");
  return {
    read: (header: string, isTls: boolean) => readCookie(header, nameFor(isTls)),
    set,
    clear: (isTls: boolean) => set("", isTls, 0),
  };
}

/** Stands for a session of the console, and is sent by pages of the same site alone. */
export const sessionCookie = hostCookie("idsvc-console", "Strict");

/** What a log-in began with, until it comes back: over pages of providers, too. Tabs have one each. */
export const loginCookie = (state: string) => hostCookie(`idsvc-console-${state}`, "Lax");
