import { useEffect, useRef, useState } from "react";
import { consoleHeader } from "../calls.ts";
import { language, t } from "../page-data.ts";
import style from "./parts.module.css";

const quietMs = 300;

/** The nonce that the page's own styles have: what it shows in a frame is held to the same policy. */
const nonce = document.querySelector<HTMLElement>("style[nonce]")?.nonce ?? "";

/** How the log-in looks with what was typed and not saved yet: made by the service as it makes the log-in itself. */
export function Preview({
  org,
  typed,
}: {
  org: string | undefined;
  typed: Readonly<Record<string, string>>;
}) {
  const [shown, setShown] = useState<Shown>();
  const form = new URLSearchParams({
    language,
    nonce,
    ...(org === undefined ? {} : { org }),
    ...typed,
  }).toString();
  // What is there at first is shown at once; whoever types is waited for.
  const delayMs = useRef(0);
  useEffect(() => {
    const end = new AbortController();
    const waiting = setTimeout(() => {
      void pageOf(form, end.signal).then(setShown, () => {
        // What was shown stays: the change itself says what is wrong with it.
      });
    }, delayMs.current);
    delayMs.current = quietMs;
    return () => {
      clearTimeout(waiting);
      end.abort();
    };
  }, [form]);
  if (shown === undefined) return null;
  const { html, isTooLarge } = shown;
  const isThere = html !== "";
  return (
    <figure className={style["preview"]}>
      <figcaption>{t(isThere ? "preview" : "previewNowhere")}</figcaption>
      {isThere && (
        // Nothing in it runs, is sent, or can be reached: it is a picture.
        <iframe title={t("preview")} sandbox="allow-same-origin" inert srcDoc={html} />
      )}
      {isTooLarge && <p role="status">{t("previewTooLarge")}</p>}
    </figure>
  );
}

type Shown = { html: string; isTooLarge: boolean };

async function pageOf(form: string, signal: AbortSignal): Promise<Shown> {
  const answer = await fetch("/ui/console/preview", {
    method: "POST",
    body: form,
    signal,
    headers: { [consoleHeader]: "1", "content-type": "application/x-www-form-urlencoded" },
  });
  if (!answer.ok) throw new Error(`the preview was refused: ${answer.status}`);
  const isTooLarge = answer.headers.get("x-idsvc-too-large") !== null;
  return { html: await answer.text(), isTooLarge };
}
