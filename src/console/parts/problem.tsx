import { useEffect, useState } from "react";
import { isSignedOut, logIn, refusalOf } from "../calls.ts";
import { t } from "../told.ts";
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
  const signedOut = isSignedOut(error);
  const [stays, setStays] = useState(!signedOut);
  useEffect(() => {
    if (signedOut) setStays(!logIn());
  }, [signedOut]);
  if (!stays) return null;
  const { message, reason, requestId, isForbidden } = refusalOf(error);
  const title = signedOut ? "ended" : isForbidden ? "forbidden" : "failed";
  const again = signedOut ? () => logIn(true) : retry;
  return (
    <div className={style["problem"]} role="alert">
      <Title>{t(title)}</Title>
      <p>{message}</p>
      <dl>
        <dt>{t("reason")}</dt>
        <dd>
          <code>{reason}</code>
        </dd>
        {requestId !== "" && (
          <>
            <dt>{t("request")}</dt>
            <dd>
              <code>{requestId}</code>
            </dd>
          </>
        )}
      </dl>
      {again !== undefined && (
        <button type="button" className={style["button"]} onClick={() => again()}>
          {t("retry")}
        </button>
      )}
    </div>
  );
}
