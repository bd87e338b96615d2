import type { WebEndpoint } from "../api/web-endpoint.ts";
import { notFound } from "../errors.ts";
import type { IdpReader } from "../resources/idp/index.ts";
import { logoPath, logoReader } from "../settings/policy/logo.ts";
import type { Database } from "../storage/database.ts";

type Image = { mediaType: string; bytes: Uint8Array };

/** Serves the logos of the instance that was called, to everybody: they stand on pages that are shown before a login. */
export function logoPage(db: Database): WebEndpoint {
  const logoOf = logoReader(db);
  return imagesAt(logoPath(":digest"), async (instanceId, [digest = ""]) => {
    const logo = await logoOf(instanceId, digest);
    if (logo === undefined) throw notFound("LOGO_NOT_FOUND", "no such logo is set here any more");
    return logo;
  });
}

/** Serves the marks of identity providers, as the logos. */
export function markPage({ provider }: Pick<IdpReader, "provider">): WebEndpoint {
  return imagesAt("/ui/marks/:idp/:digest", async (instanceId, [digest = "", idpId = ""]) => {
    const mark = (await provider(instanceId, idpId))?.mark;
    if (mark?.digest !== digest) {
      throw notFound("MARK_NOT_FOUND", "the provider has no such mark any more");
    }
    return mark;
  });
}

/**
 * Images at addresses that change with their bytes, so that caches may keep them. One that is opened as a page of its own runs no script.
 *
 * @param read gets the last parts of the address, the last one first
 */
function imagesAt(
  path: string,
  read: (instanceId: string, parts: readonly string[]) => Promise<Image>,
): WebEndpoint {
  return {
    path,
    methods: ["GET"],
    crossOrigin: "none",
    async handle({ url }, { instanceId }) {
      const parts = new URL(url).pathname.split("/").toReversed().map(decodeURIComponent);
      const { mediaType, bytes } = await read(instanceId, parts);
      const headers = {
        "content-type": mediaType,
        "cache-control": "public, max-age=31536000, immutable",
        "content-security-policy": "default-src 'none'; sandbox",
        "x-content-type-options": "nosniff",
      };
      return { status: 200, headers, body: bytes };
    },
  };
}
