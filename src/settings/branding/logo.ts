import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ResolvedLogoSchema } from "#gen/idsvc/settings/branding/v3alpha/branding_pb.ts";
import type { SetBytes } from "#gen/idsvc/settings/object/v3alpha/object_pb.ts";
import type { Scope } from "../../authz/context.ts";
import { invalidField } from "../../errors.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps, RemoveContents } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { and, eq } from "../../storage/drizzle.ts";
import { deleteRows, putRow } from "../../storage/row-change.ts";
import { bytes, table, text } from "../../storage/table.ts";
import { settingsContextOf } from "../object/contexts.ts";
import { inheritedFrom } from "../object/convert.ts";
import type { Change, Resolved, SettingValue } from "../object/settings.ts";
import { mediaTypeOf } from "./image.ts";

/**
 * The logos themselves, at most one of each property in a context. An event tells only what was set, by its digest: streams stay
 * short, however often somebody changes a logo. So these are no projections: what was replaced is gone.
 */
const logosNamed = (name: string) =>
  table(
    name,
    {
      instanceId: text(),
      ownerType: text(),
      ownerId: text(),
      digest: text(),
      mediaType: text(),
      content: bytes(),
    },
    {
      key: ["instanceId", "ownerType", "ownerId"],
      indexes: [{ columns: ["instanceId", "digest"] }],
    },
  );

/** By the property that they are set by. */
export const logos = {
  logo: logosNamed("branding_logos"),
  logo_dark: logosNamed("branding_dark_logos"),
} as const;

export type LogoProperty = keyof typeof logos;
export const logoProperties: readonly LogoProperty[] = ["logo", "logo_dark"];

export type Logo = { mediaType: string; bytes: Uint8Array };

/** Where the logo of a digest (SHA-256, base64url) is served on every host of its instance. */
export const logoPath = (digest: string): string => `/ui/logos/${digest}`;

/** What the setting holds: media type and digest; nothing where no logo is set. */
export function partsOf(value: SettingValue): { mediaType: string; digest: string } | undefined {
  const [mediaType = "", digest = ""] = String(value).split(" ");
  return digest === "" ? undefined : { mediaType, digest };
}

/**
 * The value of the setting that a file comes to.
 *
 * @throws INVALID_ARGUMENT LOGO_NOT_AN_IMAGE
 */
export function wishOf(property: LogoProperty, setter: SetBytes | undefined): Change | undefined {
  switch (setter?.value.case) {
    case "set": {
      const content = setter.value.value;
      const mediaType = mediaTypeOf(content);
      if (mediaType !== undefined) return { set: `${mediaType} ${digestOf(content)}` };
      throw invalidField(
        `settings.${property}`,
        "LOGO_NOT_AN_IMAGE",
        "must hold a PNG, JPEG or WebP image; what the file is called does not matter",
      );
    }
    case "reset":
      return { reset: true };
    default:
      return undefined;
  }
}

const digestOf = (content: Uint8Array) => createHash("sha256").update(content).digest("base64url");

/** Keeps the file that is set in the context of the call, or drops the one that is reset, in the unit that says so. */
export function keepLogo(
  tx: Transaction,
  scope: Scope,
  property: LogoProperty,
  setter: SetBytes | undefined,
): void {
  const { owner } = settingsContextOf(scope);
  const key = { instanceId: scope.instanceId, ownerType: owner.type, ownerId: owner.id };
  const wish = wishOf(property, setter);
  if (wish === undefined) return;
  const parts = "set" in wish ? partsOf(wish.set) : undefined;
  if (parts === undefined || setter?.value.case !== "set")
    tx.write(deleteRows(logos[property], key));
  else tx.write(putRow(logos[property], { ...key, ...parts, content: setter.value.value }));
}

export function toResolvedLogo(
  resolved: Resolved,
  issuer: string,
): MessageInitShape<typeof ResolvedLogoSchema> {
  const parts = partsOf(resolved.value);
  return {
    url: parts === undefined ? "" : `${issuer}${logoPath(parts.digest)}`,
    mediaType: parts?.mediaType ?? "",
    ...inheritedFrom(resolved),
  };
}

/** Reads a logo of the instance by its digest; equal files of several contexts are one. */
export function logoReader(db: Database) {
  const tables = logoProperties.map((property) => db.table(logos[property]));
  return async (instanceId: string, digest: string): Promise<Logo | undefined> => {
    await db.catchUp();
    for (const t of tables) {
      const [row] = await db.read
        .select({ mediaType: t.mediaType, bytes: t.content })
        .from(t)
        .where(and(eq(t.instanceId, instanceId), eq(t.digest, digest)))
        .limit(1);
      if (row !== undefined) return row;
    }
    return undefined;
  };
}

/** The logos of an organization that goes; that it had them went with its settings. */
export const removeContentsOfBranding =
  ({ db, events }: Deps): RemoveContents =>
  async (at, organizationId) => {
    const key = { instanceId: at.instanceId, ownerType: "org", ownerId: organizationId };
    let removed = 0;
    for (const property of logoProperties) {
      const t = db.table(logos[property]);
      const isOf = and(
        eq(t.instanceId, key.instanceId),
        eq(t.ownerType, "org"),
        eq(t.ownerId, key.ownerId),
      );
      const rows = await db.read.select({ digest: t.digest }).from(t).where(isOf);
      removed += rows.length;
      if (rows.length === 0) continue;
      await events.transact(at, async (tx) => tx.write(deleteRows(logos[property], key)));
    }
    return removed;
  };
