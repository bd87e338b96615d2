import type { Command } from "commander";
import { exitCodes } from "./context.ts";
import type { MigrateOptions } from "./migrate.ts";

type Done = (code: number) => void;

/** The commands by which users of other systems come here. They need no store and no configuration. */
export function addImportCommands(program: Command, env: NodeJS.ProcessEnv, done: Done): void {
  const migrate = program
    .command("migrate")
    .description("make the body of a bulk import of what another system has exported")
    .exitOverride();
  const source = (name: string, description: string): Command =>
    migrate
      .command(name)
      .description(description)
      .exitOverride()
      .requiredOption("--org <id>", "the organization that the users shall belong to")
      .option("--output <file>", "where the body is written", "./importBody.json")
      .option("--timeout <duration>", "how long an import may be waited for", "30m")
      .option("--multiline", "indent the body", false)
      .option("--send <url>", "import into the service at once, in the place of the file")
      .option("--token-file <file>", "holds the token for --send; otherwise IDSVC_TOKEN has it")
      .option("--follow <import>", "with --send: watch this import, which was sent before")
      .option("--json", "print the result as JSON", false);
  const optionsOf = (command: Command) => ({ ...command.opts<MigrateOptions>(), env });

  const keycloak = source("keycloak", "users of a realm, of an export with users");
  keycloak
    .option(
      "--realm <file...>",
      "the export of the realm; several files where users stand in files of their own",
      ["./realm.json"],
    )
    .option(
      "--idp <alias=id...>",
      "the id here of an identity provider of the realm: links of users to it move",
      [],
    )
    .action(async () => {
      const { realm, idp } = keycloak.opts<{ realm: string[]; idp: string[] }>();
      const { migrateKeycloak } = await import("./migrate.ts");
      done(await migrateKeycloak(optionsOf(keycloak), realm, idp));
    });

  const auth0 = source("auth0", "users of a tenant, of an export of users and one of passwords");
  auth0
    .option("--users <file>", "users, a line of JSON each", "./users.json")
    .option("--passwords <file>", "passwords, a line of JSON each", "./passwords.json")
    .option("--email-verified <true|false>", "whether the addresses are known to be theirs", "true")
    .action(async () => {
      const { users, passwords, emailVerified } = auth0.opts<Record<string, string>>();
      const { migrateAuth0 } = await import("./migrate.ts");
      const files = { users: users ?? "", passwords: passwords ?? "" };
      done(
        await migrateAuth0(optionsOf(auth0), {
          ...files,
          emailVerified: emailVerified !== "false",
        }),
      );
    });

  const imports = program.command("import").description("what is to be imported").exitOverride();
  const verify = imports.command("verify <file>");
  verify
    .description("prove that the hashes in the body of an import can be verified here")
    .exitOverride()
    .option("--user <name>", "whose password it is: an id, a user name or an address")
    .option("--password <password>", "the password that shall fit; - reads it from standard input")
    .option("--json", "print the result as JSON", false)
    .action(async (file: string) => {
      const { user, password, json } = verify.opts<{
        user?: string;
        password?: string;
        json: boolean;
      }>();
      const { verifyImport } = await import("./verify-import.ts");
      const { holds, result, words } = await verifyImport({ file, user, password });
      process.stdout.write(`${json ? JSON.stringify(result) : words}\n`);
      done(holds ? exitCodes.done : exitCodes.no);
    });
}
