import { readFileSync } from "node:fs";
import { type Bootstrap, bootstrapFile } from "../app/bootstrap-file.ts";
import { failedPrecondition } from "../errors.ts";
import { type Context, configOf, exitCodes, print } from "./context.ts";

/**
 * Prints what the first start has made, for whoever may read its file: where the service runs in a container, nothing else there
 * can show it.
 *
 * @throws FAILED_PRECONDITION BOOTSTRAP_FILE_UNREADABLE
 */
export async function bootstrapCommand(context: Context): Promise<number> {
  const file = bootstrapFile(configOf(context).dataDir);
  const made = read(file);
  const { issuer, organization_id, admin, machine } = made;
  print(
    context,
    made,
    `issuer        ${issuer}
organization  ${organization_id}
administrator ${admin.login_name}
password      ${admin.password}
token         ${machine.token}`,
  );
  return exitCodes.done;
}

function read(file: string): Bootstrap {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw failedPrecondition(
      "BOOTSTRAP_FILE_UNREADABLE",
      `${file} cannot be read: it is where the first start was made, until somebody takes it away; idsvc recover leads back into an account`,
      { cause },
    );
  }
}
