import { type Context, configOf, exitCodes, print } from "./context.ts";

export async function configCommand(context: Context): Promise<number> {
  const described = configOf(context).describe();
  const width = Math.max(...described.map(({ env }) => env.length));
  const lines = described.map(
    ({ env, value, source }) => `${env.padEnd(width)}  ${value}  (${source})`,
  );
  print(context, described, lines.join("\n"));
  return exitCodes.done;
}
