import { useState } from "react";
import { messageOf, refusalOf } from "../calls.ts";
import { t } from "../page-data.ts";
import { forget, notify } from "./notice.ts";
import style from "./objects.module.css";

/** Reads much, has the browser keep it as a file, and tells meanwhile how much has come. */
export function KeepButton({
  name,
  work,
}: {
  /** In the reader's language. */
  name: string;
  /** Says how many have come, and gives how many were kept. */
  work: (tell: (count: number) => void) => Promise<number>;
}) {
  const [count, setCount] = useState<number>();
  async function run(): Promise<void> {
    forget();
    setCount(0);
    try {
      notify(`${t("done")}: ${name} (${await work(setCount)})`);
    } catch (refused) {
      notify(messageOf(refusalOf(refused)));
    } finally {
      setCount(undefined);
    }
  }
  return (
    <button
      type="button"
      className={style["action"]}
      disabled={count !== undefined}
      onClick={() => void run()}
    >
      {count === undefined ? name : `${name}: ${count}`}
    </button>
  );
}
