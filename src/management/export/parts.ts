import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { DataOrgSchema } from "#gen/idsvc/management/v1/data_pb.ts";

/** A part of an organization: some of its lists. */
export type Part = Omit<MessageInitShape<typeof DataOrgSchema>, "$typeName" | "orgId">;

/** The organization that is exported, without what is of the service's own project. */
export type Of = { instanceId: string; organizationId: string; serviceProject: string | undefined };

/** What is of projects, but for that of the service's own. */
export const ofOwn = <T extends { projectId: string }>(rows: T[], { serviceProject }: Of): T[] =>
  rows.filter(({ projectId }) => projectId !== serviceProject);

export const expiring = (date: Date | null) =>
  date === null ? {} : { expirationDate: timestampFromDate(date) };
