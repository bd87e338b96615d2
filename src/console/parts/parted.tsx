import { Fragment } from "react";

/** A name for programs, such as `PROJECT_GRANT_EXISTS`: where a line is too short for it, it breaks after an underscore. */
export const Parted = ({ text }: { text: string }) =>
  text.split(/(?<=_)/).map((part, nth) => (
    <Fragment key={nth}>
      {part}
      <wbr />
    </Fragment>
  ));
