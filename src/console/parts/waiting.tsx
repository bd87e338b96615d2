import { t } from "../page-data.ts";
import style from "./parts.module.css";

export const Waiting = () => (
  <p className={style["waiting"]} role="status">
    {t("loading")}
  </p>
);
