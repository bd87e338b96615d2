/** Leads to another page in the same organization, without what the address says of this page alone. */
export const keepOrg = ({ org }: { org?: string }): { org?: string } =>
  org === undefined ? {} : { org };
