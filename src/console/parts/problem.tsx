import { useEffect, useState } from "react";
import { logIn, messageOf, refusalOf, type Refusal } from "../calls.ts";
import { t } from "../page-data.ts";
import { Parted } from "./parted.tsx";
import style from "./parts.module.css";

/** What went wrong, with what to tell whoever can help. Who is signed out is led to the log-in. */
export function Problem({
  error,
  retry,
  title: Title = "h1",
}: {
  error: unknown;
  retry?: () => void;
  /** Beneath the title of a page it is no title of one. */
  title?: "h1" | "h2";
}) {
  const refusal = refusalOf(error);
  const { isForbidden, isSignedOut, isLost } = refusal;
  const [stays, setStays] = useState(!isSignedOut);
  useEffect(() => {
    if (isSignedOut) setStays(!logIn());
  }, [isSignedOut]);
  if (!stays) return null;
  const title = isSignedOut ? "ended" : isForbidden ? "forbidden" : isLost ? "lost" : "failed";
  const again = isSignedOut ? () => logIn(true) : retry;
  return (
    <div className={style["problem"]} role="alert">
      <Title>{t(title)}</Title>
      <Refused refusal={refusal} />
      {again !== undefined && (
        <button type="button" className={style["button"]} onClick={() => again()}>
          {t("retry")}
        </button>
      )}
    </div>
  );
}

/** A refusal: its words, its reason, and the request to ask about. */
export function Refused({ refusal }: { refusal: Refusal }) {
  const { message, reason, requestId } = refusal;
  // That nothing was answered stands above.
  const text = refusal.isLost ? "" : messageOf(refusal);
  return (
    <>
      {text !== "" && <p>{text}</p>}
      {text !== message && message !== "" && <p lang="en">{message}</p>}
      <dl>
        {reason !== "" && (
          <>
            <dt>{t("reason")}</dt>
            <dd>
              <code>
                <Parted text={reason} />
              </code>
            </dd>
          </>
        )}
        {requestId !== "" && (
          <>
            <dt>{t("request")}</dt>
            <dd>
              <code>{requestId}</code>
            </dd>
          </>
        )}
      </dl>
    </>
  );
}
