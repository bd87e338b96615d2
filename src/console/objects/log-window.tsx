import { keepOrg } from "../parts/keep-org.ts";
import { useOrg } from "../rights.ts";
import { InLog } from "./in-log.tsx";
import { ListPage, type ListProps } from "./list-page.tsx";

/** A list of what is in a part of the log, the newest at first, and the way to the part before it. */
export function LogListPage({ size, ...list }: ListProps & { size: bigint }) {
  const org = useOrg();
  return (
    <InLog {...{ size, org }} keep={keepOrg}>
      {(sequence) => <ListPage {...list} sequence={sequence} />}
    </InLog>
  );
}
