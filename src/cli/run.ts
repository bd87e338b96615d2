import { Command, CommanderError } from "commander";
import { listOptions } from "../app/config.ts";
import { version } from "../build.ts";
import { type Context, exitCodes } from "./context.ts";
import { addImportCommands } from "./import-commands.ts";
import { refusalOf } from "./refusal.ts";

type Action = (context: Context) => Promise<number>;

// To load the whole service takes a second: only a command that needs it does.
const actions = {
  serve: async () => (await import("./serve.ts")).serveCommand,
  config: async () => (await import("./config.ts")).configCommand,
  bootstrap: async () => (await import("./bootstrap.ts")).bootstrapCommand,
  doctor: async () => (await import("./doctor.ts")).doctorCommand,
  ready: async () => (await import("./ready.ts")).readyCommand,
  migrate: async () => (await import("./db.ts")).migrateCommand,
  vacuum: async () => (await import("./db.ts")).vacuumCommand,
  backup: async () => (await import("./db.ts")).backupCommand,
  promote: async () => (await import("./db.ts")).promoteCommand,
  hold: async () => (await import("./jobs.ts")).holdCommand,
  release: async () => (await import("./jobs.ts")).releaseCommand,
  verify: async () => (await import("./projections.ts")).verifyCommand,
  rebuild: async () => (await import("./projections.ts")).rebuildCommand,
  legacyApps: async () => (await import("./apps.ts")).legacyAppsCommand,
  recover: async () => (await import("./recover.ts")).recoverCommand,
  rotate: async () => (await import("./keys.ts")).rotateCommand,
} satisfies Record<string, () => Promise<Action>>;

const exitCodeHelp = `
Exit codes:
  0  done
  1  failed; the reason is on standard error
  2  the command line or the configuration is wrong
  3  the answer is no: not ready, projections differ, or the doctor found a problem`;

/** A command with all that it was given. */
type Given = () => Promise<number>;

/**
 * Runs one command line and gives its exit code. Results go to standard output, refusals to standard error.
 */
export async function run(argv: string[], env: NodeJS.ProcessEnv): Promise<number> {
  // Whatever this process makes is for its own user alone: stores, logs of them, backups, exports.
  process.umask(0o077);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", dropUnread);
  try {
    const given = await parse(argv, env);
    return await given();
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    return refuse(error);
  }
}

/** The command that a command line names. Nothing refers to what parsed it while it runs: that is half a megabyte. */
async function parse(argv: string[], env: NodeJS.ProcessEnv): Promise<Given> {
  let given: Given = async () => exitCodes.done;
  const program = new Command("idsvc")
    .description("Multi-tenant identity and access service.")
    .version(version, "-V, --version")
    .exitOverride()
    .showHelpAfterError()
    .addHelpText("after", exitCodeHelp);

  const add: AddCommand = (parent, name, description, load) => {
    const command = commandOf(parent, name, description);
    return command.action(() => void (given = withContext(load, contextOf(command, env))));
  };
  addCommands(program, add);
  addImportCommands(program, env, (code) => (given = async () => code));
  program
    .command("version")
    .description("print the version")
    .action(() => void process.stdout.write(`${version}\n`));
  await program.parseAsync(argv, { from: "user" });
  return given;
}

const withContext =
  (load: () => Promise<Action>, context: Context): Given =>
  async () =>
    (await load())(context);

type AddCommand = (
  parent: Command,
  name: string,
  description: string,
  load: () => Promise<Action>,
) => Command;

/** A command with the options that all have. */
function commandOf(parent: Command, name: string, description: string): Command {
  const command = parent
    .command(name)
    .description(description)
    .exitOverride()
    .option("--config <file...>", "YAML files of options; later ones win")
    .option("--json", "print the result as JSON");
  for (const { flag, why, source: _, value, secret } of listOptions()) {
    const shown = secret ? why : `${why} [${value}]`;
    command.option(`--${flag.replace(/^--/, "")} <value>`, shown);
  }
  return command.addHelpText("after", exitCodeHelp);
}

/** What an action is told of its command line. */
function contextOf(command: Command, env: NodeJS.ProcessEnv): Context {
  const {
    config,
    json,
    to = "",
    user = "",
    instance = "",
    end,
    at = "",
    ...flags
  } = command.opts<Record<string, unknown>>();
  return {
    argument: String(command.processedArgs[0] ?? ""),
    files: Array.isArray(config) ? config.map(String) : [],
    to: String(to),
    user: String(user),
    instance: String(instance),
    end: end === true,
    at: String(at),
    json: json === true,
    flags: Object.fromEntries(Object.entries(flags).map(([key, text]) => [key, String(text)])),
    env,
  };
}

/** All commands but those of imports. */
function addCommands(program: Command, add: AddCommand): void {
  add(program, "serve", "run the service; the first start makes an instance", actions.serve);
  add(
    program,
    "config",
    "print every option, its value in force and where it comes from",
    actions.config,
  );
  add(
    program,
    "bootstrap",
    "print what the first start has made: administrator, password, token",
    actions.bootstrap,
  );
  add(program, "doctor", "check the store and say what is wrong", actions.doctor);
  add(program, "ready", "ask a running service whether it is ready", actions.ready);
  const db = program.command("db").description("work on the database").exitOverride();
  add(db, "migrate", "bring the store to the schema of this build", actions.migrate);
  add(
    db,
    "vacuum",
    "write the store anew, so that its files hold nothing deleted; writers wait meanwhile",
    actions.vacuum,
  );
  add(
    db,
    "backup <file>",
    "copy the SQLite store into a new file, also while it serves",
    actions.backup,
  );
  add(
    db,
    "promote",
    "copy the SQLite store, which must be stopped, into an empty PostgreSQL database",
    actions.promote,
  ).requiredOption("--to <url>", "the database: postgres://user:password@host:5432/name");
  const jobs = program
    .command("jobs")
    .description("work that is due after a commit")
    .exitOverride();
  add(jobs, "hold", "let no process begin a job until they are released", actions.hold);
  add(jobs, "release", "let the jobs go that were held, as those of a backup are", actions.release);
  const projections = program
    .command("projections")
    .description("tables that follow from the event log")
    .exitOverride();
  add(projections, "verify", "compare projections with a fresh fold of the log", actions.verify);
  add(projections, "rebuild", "fold the log anew and put the result in place", actions.rebuild);
  const apps = program.command("apps").description("apps of all instances").exitOverride();
  add(
    apps,
    "legacy",
    "show the apps that reach our APIs as before apps needed an access to them",
    actions.legacyApps,
  )
    .option("--end", "end that: from then on counts what they are given")
    .option("--at <date>", "with --end: end it on this day or at this time (ISO 8601), not now");
  add(
    program,
    "recover",
    "print a link, good once for 15 minutes, that leads back into an account; owners are told",
    actions.recover,
  )
    .requiredOption("--user <login name>", "whose account it is")
    .option("--instance <domain>", "the instance, by one of its domains, where there are several");
  const keys = program.command("keys").description("what seals the secrets").exitOverride();
  add(
    keys,
    "rotate",
    "wrap all keys under IDSVC_MASTER_KEY that are under IDSVC_MASTER_KEY_PREVIOUS; services may run",
    actions.rotate,
  );
}

/** Whoever reads may leave before the end, as `head` does: the rest is dropped, and the command does its work all the same. */
function dropUnread(error: Error): void {
  if (!("code" in error) || error.code !== "EPIPE") throw error;
}

function refuse(error: unknown): number {
  const { text, code } = refusalOf(error);
  process.stderr.write(text);
  return code;
}
