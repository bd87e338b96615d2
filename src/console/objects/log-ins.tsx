import { logIns } from "../declared/health.ts";
import { useAnswer } from "../json-calls.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useRights } from "../rights.ts";
import { dayText, numberText, t } from "../page-data.ts";
import style from "./objects.module.css";

/** Whether the reader may know how many log-ins there were, in an organization or else in the instance. */
export function useHasLogIns(org: string | undefined): boolean {
  const { may } = useRights();
  const place = org === undefined ? { isInstance: true as const } : { organizationId: org };
  return may(logIns.method, place);
}

/** The log-ins of the last days as a chart, with the same numbers as a table. */
export function LogIns({ org }: { org: string | undefined }) {
  return useHasLogIns(org) ? <Counted org={org} /> : null;
}

function Counted({ org }: { org: string | undefined }) {
  const { data, error, refetch } = useAnswer(logIns.method, logIns.request(org));
  return (
    <section className={style["rows"]}>
      <h2>{t("logIns")}</h2>
      {data !== undefined ? (
        <Chart days={logIns.days(data)} />
      ) : error === null ? (
        <Waiting />
      ) : (
        <Problem error={error} retry={() => void refetch()} title="h2" />
      )}
    </section>
  );
}

/** The parts of the picture: bars stand side by side, each a unit wide, with a gap. */
const height = 40;
const bar = 0.7;

function Chart({ days }: { days: readonly { day: string; count: number }[] }) {
  const most = Math.max(...days.map(({ count }) => count), 1);
  const all = days.reduce((sum, { count }) => sum + count, 0);
  const said = numberText(String(all));
  const [first, last] = [days.at(0), days.at(-1)];
  return (
    <figure className={style["chart"]}>
      <figcaption>{`${t("inAll")}: ${said}`}</figcaption>
      <svg
        viewBox={`0 0 ${days.length} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${t("logIns")}: ${said}`}
      >
        {days.map(({ day, count }, nth) => (
          <rect
            key={day}
            x={nth + (1 - bar) / 2}
            width={bar}
            y={height - barOf(count, most)}
            height={barOf(count, most)}
          >
            <title>{`${dayText(day)}: ${numberText(String(count))}`}</title>
          </rect>
        ))}
      </svg>
      <p aria-hidden>
        <span>{first && dayText(first.day)}</span>
        <span>{last && dayText(last.day)}</span>
      </p>
      <details>
        <summary>{t("asTable")}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("day")}</th>
              <th scope="col">{t("logInsOfDay")}</th>
            </tr>
          </thead>
          <tbody>
            {days.map(({ day, count }) => (
              <tr key={day}>
                <th scope="row">{dayText(day)}</th>
                <td>{numberText(String(count))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/** Whatever is there can be seen. */
const barOf = (count: number, most: number): number =>
  count === 0 ? 0 : Math.max((count / most) * height, 1);
