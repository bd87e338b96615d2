import { t } from "../page-data.ts";
import style from "./parts.module.css";

export const Waiting = () => (
  <p className={style["waiting"]} role="status" aria-busy="true">
    {t("loading")}
  </p>
);
