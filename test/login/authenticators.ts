import type { CDPSession, Page } from "playwright-core";

/** Gives a browser a device that makes and uses passkeys. */
export async function addAuthenticator({ page }: { page: Page }, more = {}): Promise<CDPSession> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      ...more,
    },
  });
  return devtools;
}
