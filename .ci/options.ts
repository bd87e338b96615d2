import { Command } from "commander";

/** What an option is without being given, and what it is for; `false`: it is there or not. */
type Option = readonly [value: string | false, why: string];

/**
 * The options of a script from its command line. `--help` says what it does and what they are for; one that is unknown ends it with 1 and
 * one line.
 *
 * @param description as the comment at the head of the script would say it
 */
export function optionsOf<const T extends Record<string, Option>>(
  description: string,
  options: T,
): { [Name in keyof T]: T[Name][0] extends false ? boolean : string } {
  const command = new Command(process.env["npm_lifecycle_event"] ?? "node")
    .description(description)
    .allowExcessArguments(false);
  const read: Record<string, () => unknown> = {};
  for (const [name, [value, why]] of Object.entries(options)) {
    const option =
      value === false
        ? command.createOption(`--${name}`, why).default(false)
        : command.createOption(`--${name} <value>`, why).default(value);
    command.addOption(option);
    read[name] = () => command.getOptionValue(option.attributeName());
  }
  command.parse();
  return Object.fromEntries(
    Object.entries(read).map(([name, value]) => [name, value()]),
  ) as ReturnType<typeof optionsOf<T>>;
}
