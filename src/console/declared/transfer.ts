import type { JsonObject } from "@bufbuild/protobuf";
import { DataOrgSchema } from "#gen/idsvc/management/v1/data_pb.ts";
import { ManagementService } from "#gen/idsvc/management/v1/management_service_pb.ts";
import { type Action, type Listed, type Shown, textAt } from "./declare.ts";

const { getImport, listImports, pauseImport, resumeImport, cancelImport } =
  ManagementService.method;

/** What takes organizations in and gives them out, in messages of one form. */
export const transfer = {
  service: ManagementService,
  record: DataOrgSchema,
  begin: ManagementService.method.import,
  report: ManagementService.method.reportImport,
  export: ManagementService.method.export,
};

const isIn =
  (...states: string[]) =>
  (job: JsonObject): boolean =>
    states.includes(textAt(job, "state").replace("IMPORT_STATE_", ""));
export const isUnderWay = isIn("RECEIVING", "RUNNING");
/** A trial has told all that it can. */
export const isTrialOver = (job: JsonObject): boolean =>
  job["dry_run"] === true && isIn("COMPLETED")(job);

const job = { given: { id: { of: "id" } } } as const;

const progress: readonly Shown[] = [
  { path: "state" },
  { path: "dry_run" },
  { path: "total" },
  { path: "created" },
  { path: "existed" },
  { path: "refused" },
];

/** The imports whose reports are still there, the latest first. */
export const imports: Listed = {
  search: { method: listImports, request: () => ({}), isDescending: true },
  hasNoFilter: true,
  columns: [
    { path: "creation_date", word: "when" },
    ...progress,
    { path: "expiration_date", word: "reportUntil" },
  ],
};

/** An import: what is told of it, and what can be done while it is under way. */
export const importJob = {
  get: getImport,
  object: "job",
  facts: [
    ...progress,
    { path: "creation_date", word: "when" },
    { path: "expiration_date", word: "reportUntil" },
  ] satisfies Shown[],
  actions: [
    { word: "pause", method: pauseImport, ...job, when: isUnderWay },
    { word: "resume", method: resumeImport, ...job, when: isIn("PAUSED") },
    {
      word: "cancelImport",
      method: cancelImport,
      ...job,
      isDangerous: true,
      when: isIn("RECEIVING", "RUNNING", "PAUSED"),
    },
  ] satisfies Action[],
};
