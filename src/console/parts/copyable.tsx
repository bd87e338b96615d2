import { useState } from "react";
import type { Sample } from "../declared/declare.ts";
import { keep } from "../keep-file.ts";
import { t } from "../page-data.ts";
import style from "./parts.module.css";

/** Texts to copy, with what they are for above them. */
export function Samples({ lead, samples }: { lead: string; samples: readonly Sample[] }) {
  return (
    <section className={style["code"]}>
      <p>{t(lead)}</p>
      {samples.map((sample) => {
        const name = "word" in sample ? t(sample.word) : sample.name;
        return <Copyable key={name} name={name} text={sample.text} />;
      })}
    </section>
  );
}

/** A text with a button that copies it, and one that saves it where it is a file. */
export function Copyable({
  name,
  text,
  fileName,
}: {
  name: string;
  text: string;
  fileName?: string | undefined;
}) {
  const [word, setWord] = useState("copy");
  // Where the browser forbids it, the text can still be marked by hand.
  const copy = () =>
    void navigator.clipboard.writeText(text).then(
      () => setWord("copied"),
      () => setWord("failed"),
    );
  return (
    <figure className={style["copyable"]}>
      <figcaption>
        <span>{name}</span>
        {fileName !== undefined && (
          <button
            type="button"
            className={style["button"]}
            onClick={() => keep(fileName, new Blob([text]))}
          >
            {t("saveFile")}
          </button>
        )}
        <button
          type="button"
          className={style["button"]}
          aria-label={`${t("copy")}: ${name}`}
          onClick={copy}
        >
          {t(word)}
        </button>
      </figcaption>
      <pre tabIndex={0} className={text.includes("\n") ? undefined : style["line"]}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
