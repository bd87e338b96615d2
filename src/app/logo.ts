import type { WebEndpoint } from "../api/web-endpoint.ts";
import { notFound } from "../errors.ts";
import { logoPath, logoReader } from "../settings/branding/index.ts";
import type { Database } from "../storage/database.ts";

/**
 * Serves the logos of the instance that was called, to everybody: they stand on pages that are shown before a login.
 * Another logo has another address, so that caches may keep it. Whoever opens one by itself sees an image and runs nothing.
 */
export function logoPage(db: Database): WebEndpoint {
  const logoOf = logoReader(db);
  return {
    path: logoPath(":digest"),
    methods: ["GET"],
    crossOrigin: "none",
    async handle({ url }, { instanceId }) {
      const digest = new URL(url).pathname.split("/").at(-1) ?? "";
      const logo = await logoOf(instanceId, digest);
      if (logo === undefined) throw notFound("LOGO_NOT_FOUND", "no such logo is set here any more");
      const headers = {
        "content-type": logo.mediaType,
        "cache-control": "public, max-age=31536000, immutable",
        "content-security-policy": "default-src 'none'; sandbox",
        "x-content-type-options": "nosniff",
      };
      return { status: 200, headers, body: logo.bytes };
    },
  };
}
