import { Fragment } from "react";

/** A name such as `PROJECT_GRANT_EXISTS` or an address: where a line is too short for it, it breaks between its parts. */
export const Parted = ({ text }: { text: string }) =>
  text.split(/(?<=[_@.:/-])/).map((part, nth) => (
    <Fragment key={nth}>
      {nth > 0 && <wbr />}
      {part}
    </Fragment>
  ));
