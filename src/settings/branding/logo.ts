import { columnsWhere } from "../../projection/rows.ts";
import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ResolvedLogoSchema } from "#gen/idsvc/settings/branding/v3alpha/branding_pb.ts";
import type { SetBytes } from "#gen/idsvc/settings/object/v3alpha/object_pb.ts";
import type { Scope } from "../../authz/context.ts";
import { invalidField } from "../../errors.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps, RemoveContents } from "../../projection/module.ts";
import { deleteRows, putRow } from "../../storage/row-change.ts";
import { settingsContextOf } from "../object/contexts.ts";
import { inheritedFrom } from "../object/convert.ts";
import type { Change, Resolved } from "../object/settings.ts";
import { mediaTypeOf } from "../policy/image.ts";
import { type LogoProperty, logoPath, logoProperties, logos, partsOf } from "../policy/logo.ts";

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

/** The logos of an organization that goes; that it had them went with its settings. */
export const removeContentsOfBranding =
  ({ db, events }: Deps): RemoveContents =>
  async (at, organizationId) => {
    const key = { instanceId: at.instanceId, ownerType: "org", ownerId: organizationId };
    let removed = 0;
    for (const property of logoProperties) {
      const rows = await columnsWhere(db, logos[property], ["digest"], key);
      removed += rows.length;
      if (rows.length === 0) continue;
      await events.transact(at, async (tx) => tx.write(deleteRows(logos[property], key)));
    }
    return removed;
  };
