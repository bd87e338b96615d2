import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { failedPrecondition } from "../errors.ts";

/** What the first start made; the only place where its secrets stand in clear (H1). */
export type Bootstrap = {
  issuer: string;
  instance_id: string;
  organization_id: string;
  project_id: string;
  admin: { user_id: string; login_name: string; password: string };
  machine: { user_id: string; login_name: string; token: string };
};

/** Where the first start writes what it has made. */
export const bootstrapFile = (dataDir: string): string => join(dataDir, "bootstrap.json");

const draftIn = (dataDir: string, { instance_id }: Bootstrap): string =>
  `${bootstrapFile(dataDir)}.${instance_id}`;

/**
 * Written before the commit and named after it: nobody gets an instance whose password they cannot know, and of two first
 * starts at once each keeps its hands off the other's file.
 *
 * @throws FAILED_PRECONDITION BOOTSTRAP_FILE_UNWRITABLE
 */
export function writeDraft(dataDir: string, made: Bootstrap): void {
  const text = `${JSON.stringify(made, null, 2)}\n`;
  try {
    writeFileSync(draftIn(dataDir, made), text, { mode: 0o600, flush: true });
  } catch (cause) {
    throw failedPrecondition(
      "BOOTSTRAP_FILE_UNWRITABLE",
      `the password and the token that the first start makes cannot be written to ${bootstrapFile(dataDir)}: let this user write there, or give both by IDSVC_BOOTSTRAP_ADMIN_PASSWORD and IDSVC_BOOTSTRAP_TOKEN`,
      { cause },
    );
  }
}

export const dropDraft = (dataDir: string, made: Bootstrap): void =>
  rmSync(draftIn(dataDir, made), { force: true });

export const nameDraft = (dataDir: string, made: Bootstrap): void =>
  renameSync(draftIn(dataDir, made), bootstrapFile(dataDir));
