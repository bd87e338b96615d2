import { jobKind } from "../../jobs/job.ts";

/** The key of the job is the import, so that no two work on one. */
export const importJob = jobKind<Record<string, never>>("management.import");
