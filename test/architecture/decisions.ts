// The decisions in docs/decisions, and their index. `node test/architecture/decisions.ts` writes the index anew; a test
// compares it with what is there.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const folder = resolve(import.meta.dirname, "../../docs/decisions");
const indexFile = join(folder, "README.md");

export type Decision = {
  /** The name of its file, which begins with the number. */
  file: string;
  number: string;
  /** The short id that code and tests use, where it has one. */
  id: string | undefined;
  title: string;
  date: string;
  status: string;
  text: string;
};

export function readDecisions(): readonly Decision[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".md") && file !== "README.md")
    .toSorted()
    .map((file) => {
      const text = readFileSync(join(folder, file), "utf8");
      const line = (name: string): string | undefined =>
        new RegExp(`^- ${name}: (.+)$`, "m").exec(text)?.[1];
      const id = line("Id");
      const heading = /^# (.+)$/m.exec(text)?.[1] ?? "";
      return {
        file,
        number: line("Number") ?? "",
        id,
        title: id === undefined ? heading : heading.slice(id.length + 2),
        date: line("Date") ?? "",
        status: line("Status") ?? "",
        text,
      };
    });
}

export const readIndex = (): string => readFileSync(indexFile, "utf8");

const groups: readonly (readonly [family: string, title: string])[] = [
  ["A", "A: the contract and its transports"],
  ["B", "B: contexts, callers, permissions"],
  ["C", "C: events and consistency"],
  ["E", "E: identity providers and inherited resources"],
  ["G", "G: management v1 and imports"],
  ["H", "H: start, configuration, operation"],
  ["J", "J: authority, and what strangers may cost"],
  ["L", "L: people and their accounts"],
  ["S", "S: settings"],
  ["X", "X: executions"],
  ["", "Without an id of their own"],
];

const introduction = `# Decisions

What a reader of the code would question: one decision a file, with its context, the choice, its price and its status. Code, tests and
documents name a decision by its id (\`(J4a)\`) where it has one, else by its number (\`(decision 0097)\`). Ids of abuse cases (D01 to
D80) are in [abuse-cases.md](../abuse-cases.md), of faults (F01 to F31) in [faults.md](../faults.md), numbers of the specification
(\`specification 4.3.2\`) in [specification.md](../specification.md). \`test/architecture/references.spec.ts\` refuses a reference that
nothing defines, and holds this index to the files.

A new decision takes the next number and no id, and its file the sections of the others; \`node test/architecture/decisions.ts\` writes this
index. A decision that replaces another one says so in the status of the old one (\`superseded by decision 0097\`), which stays.

The choices with an id were ruled by the owner of the project. In commits before 2026-11-24 those of X have the letter D, those of S the letter F.
`;

/** The index as it follows from the files. */
export function indexOf(decisions: readonly Decision[]): string {
  const tables = groups.map(([family, title]) => {
    const rows = decisions
      .filter(({ id = "" }) => id.slice(0, 1) === family)
      .map(
        ({ file, number, id, title: name, date, status }) =>
          `| [${number}](${file}) | ${family === "" ? "" : `${id} | `}${name} | ${date} | ${status} |`,
      );
    const columns = ["Number", ...(family === "" ? [] : ["Id"]), "Decision", "Date", "Status"];
    const head = `| ${columns.join(" | ")} |\n| ${columns.map(() => "---").join(" | ")} |`;
    return `\n## ${title}\n\n${head}\n${rows.join("\n")}\n`;
  });
  return introduction + tables.join("");
}

if (import.meta.main) writeFileSync(indexFile, indexOf(readDecisions()));
