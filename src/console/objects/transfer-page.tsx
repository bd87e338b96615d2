import { type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";
import { messageOf, refusalOf, transport } from "../calls.ts";
import { textAt } from "../declared/declare.ts";
import { fieldAt, keyOfRow, listOf } from "../declared/schema.ts";
import { importJob, imports, isTrialOver, isUnderWay, transfer } from "../declared/transfer.ts";
import { useAnswer, usePages } from "../json-calls.ts";
import { keep } from "../keep-file.ts";
import { Copyable } from "../parts/copyable.tsx";
import { Facts } from "../parts/detail.tsx";
import { keepOrg } from "../parts/keep-org.ts";
import { List } from "../parts/list.tsx";
import { Problem } from "../parts/problem.tsx";
import { sendFile } from "../send-file.ts";
import { useRights } from "../rights.ts";
import type { PageRoute, PageSearch } from "../routes.ts";
import { t } from "../page-data.ts";
import { Actions } from "./actions.tsx";
import { download, textOf } from "./csv.ts";
import { KeepButton } from "./keep-button.tsx";
import { forget, notify } from "./notice.ts";
import style from "./objects.module.css";
import { useColumns } from "./rows.tsx";
import { Siblings } from "./siblings.tsx";
import { valueOf, wordOf } from "./value.tsx";

const client = createClient(transfer.service, transport);
const pauseMs = 1_000;

/** Brings organizations with all that is theirs in, and gives them out, in one form. */
export function TransferPage({ route }: { route: PageRoute }) {
  const { job }: PageSearch = useSearch({ strict: false });
  const { may } = useRights();
  // The file stays chosen while what became of it is shown: after a trial the import follows.
  const [sent, setSent] = useState<Sent>();
  return (
    <>
      <h1>{t(route.word)}</h1>
      <Siblings route={route} />
      <section className={style["rows"]}>
        <h2>{t("import")}</h2>
        <div hidden={job !== undefined}>
          <Begin begun={setSent} />
        </div>
        {job !== undefined && <Job key={job} id={job} {...{ sent }} begun={setSent} />}
      </section>
      {job === undefined && (
        <section className={style["rows"]}>
          <h2>{t("imports")}</h2>
          <Imports />
        </section>
      )}
      {may(transfer.export, { isInstance: true }) && (
        <section className={style["rows"]}>
          <h2>{t("export")}</h2>
          <p>{t("exportLead")}</p>
          <Export />
        </section>
      )}
    </>
  );
}

/** A line of a file that brings a person into an organization. */
const exampleOf = (orgId: string): string =>
  JSON.stringify({
    orgId,
    humanUsers: [
      {
        userId: "ada",
        user: {
          userName: "ada",
          profile: { firstName: "Ada", lastName: "Lovelace" },
          email: { email: "ada@example.com" },
        },
      },
    ],
  });

/** The file that was sent last, and the import that it began. */
type Sent = { job: string; file: File };
type Begun = (sent: Sent) => void;

/** Sends a file as it is read from the disk, however long it is; what it became has an address of its own. */
function useImport(begun: Begun) {
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const navigate = useNavigate();
  async function send(file: File, isDryRun: boolean): Promise<void> {
    forget();
    setSending(true);
    setError(undefined);
    try {
      const query = { dryRun: String(isDryRun), awaitResponse: "false" };
      const job = textAt(await sendFile(transfer.begin, file, query), "job.id");
      begun({ job, file });
      await navigate({ to: ".", search: { job } });
    } catch (refused) {
      setError(refused);
    } finally {
      setSending(false);
    }
  }
  return { send, isSending, error };
}

function Begin({ begun }: { begun: Begun }) {
  const [file, setFile] = useState<File>();
  const [isDryRun, setDryRun] = useState(true);
  const { send, isSending, error } = useImport(begun);
  const { me } = useRights();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (file !== undefined) void send(file, isDryRun);
  };
  return (
    <form className={style["transfer"]} onSubmit={submit}>
      <p>{t("importLead")}</p>
      <details>
        <summary>{t("importExample")}</summary>
        <Copyable name={t("importLine")} text={exampleOf(me.organizationId)} />
      </details>
      <label>
        <span>{t("importFile")}</span>
        <input type="file" required onChange={({ target }) => setFile(target.files?.[0])} />
      </label>
      <label className={style["check"]}>
        <input
          type="checkbox"
          checked={isDryRun}
          onChange={({ target }) => setDryRun(target.checked)}
        />
        {t("field_dry_run")}
      </label>
      {error !== undefined && <Problem error={error} title="h2" />}
      <button type="submit" className={style["action"]} disabled={isSending}>
        {t(isSending ? "loading" : "import")}
      </button>
    </form>
  );
}

/** Imports the file of a trial that is over. */
function AfterTrial({ file, begun }: { file: File; begun: Begun }) {
  const { send, isSending, error } = useImport(begun);
  return (
    <>
      {error !== undefined && <Problem error={error} title="h2" />}
      <div className={style["actions"]}>
        <button
          type="button"
          className={style["action"]}
          disabled={isSending}
          onClick={() => void send(file, false)}
        >
          {isSending ? t("loading") : t("importAfterTrial").replace("{file}", file.name)}
        </button>
      </div>
    </>
  );
}

/** What was imported before, by whomever: a report is found again from here. */
function Imports() {
  const { method, isDescending = false } = imports.search;
  const again = (rows: readonly JsonObject[]) => rows.some(isUnderWay) && pauseMs;
  const pages = usePages(method, {}, { isDescending, again });
  const message = listOf(method.output)?.message;
  const [when, ...columns] = useColumns(message, pages.rows ?? [], imports.columns, undefined);
  const linked = (row: JsonObject) => (
    <Link to="." search={(now: PageSearch) => ({ ...keepOrg(now), job: textAt(row, "id") })}>
      {when?.show(row)}
    </Link>
  );
  return (
    <List
      label={t("imports")}
      pages={pages}
      keyOf={keyOfRow}
      columns={when === undefined ? columns : [{ ...when, show: linked }, ...columns]}
    />
  );
}

const noNames = {
  person: new Map(),
  organization: new Map(),
  project: new Map(),
  application: new Map(),
  provider: new Map(),
  own: new Map(),
};

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** How far an import is: it goes on whether somebody looks or not. */
function Job({ id, sent, begun }: { id: string; sent: Sent | undefined; begun: Begun }) {
  const { data, error, refetch } = useAnswer(
    importJob.get,
    { id },
    {
      again: ({ job }) => (isObject(job) && isUnderWay(job) ? pauseMs : false),
    },
  );
  if (error !== null && data === undefined) {
    return <Problem error={error} retry={() => void refetch()} title="h2" />;
  }
  const job = data?.["job"];
  if (!isObject(job)) return null;
  const count = (name: string) => Number(textAt(job, name));
  const done = count("created") + count("existed") + count("refused");
  const message = fieldAt(importJob.get.output, importJob.object)?.message;
  return (
    <>
      <p>
        <Link to="." search={keepOrg}>
          {t("imports")}
        </Link>
      </p>
      <progress aria-label={t("import")} max={Math.max(1, count("total"))} value={done} />
      <p role="status">{`${t(textAt(job, "state"))}: ${done} / ${count("total")}`}</p>
      <Actions
        {...{ actions: importJob.actions, name: id, isNamed: false }}
        subject={{ object: job, page: job }}
      />
      <Facts
        facts={importJob.facts.map((fact) => [wordOf(fact), valueOf(message, job, fact, noNames)])}
      />
      <Report id={id} />
      {isTrialOver(job) && sent?.job === id && <AfterTrial file={sent.file} begun={begun} />}
    </>
  );
}

/** What became of each record, as a table to keep; what was refused alone is usually enough. */
function Report({ id }: { id: string }) {
  async function report(onlyRefused: boolean): Promise<void> {
    const { output } = transfer.report;
    const columns = ["position", "org_id", "type", "id", "outcome", "reason", "field", "message"];
    const rows: string[][] = [columns];
    for await (const record of client.reportImport({ id, onlyRefused })) {
      // A message is an object in JSON.
      const row = toJson(output, record, { useProtoFieldName: true }) as JsonObject;
      rows.push(columns.map((path) => textOf(output, row, { path })));
    }
    download(`${t("report")}.csv`, rows);
  }
  return (
    <div className={style["actions"]}>
      {[true, false].map((onlyRefused) => (
        <button
          key={String(onlyRefused)}
          type="button"
          className={style["action"]}
          onClick={() =>
            void report(onlyRefused).catch((refused: unknown) =>
              notify(messageOf(refusalOf(refused))),
            )
          }
        >
          {t(onlyRefused ? "reportRefused" : "report")}
        </button>
      ))}
    </div>
  );
}

/** All organizations, part by part as they come, in a file that an import takes. */
function Export() {
  async function run(tell: (count: number) => void): Promise<number> {
    const parts: string[] = [];
    for await (const { org } of client.export({})) {
      if (org === undefined) continue;
      parts.push(`${JSON.stringify(toJson(transfer.record, org))}\n`);
      tell(parts.length);
    }
    keep("export.jsonl", new Blob(parts, { type: "application/x-ndjson" }));
    return parts.length;
  }
  return <KeepButton name={t("export")} work={run} />;
}
