export type { AutoLinking, IdpOptions } from "./events.ts";
export { type LeavingIdp, removeIdpLinks } from "./links.ts";
export { instanceIdpEvents, organizationIdpEvents } from "./events.ts";
export { type Idp, idpReader, type IdpReader, idpSecretReader, type OfferedIdp } from "./reader.ts";
export { type IdpConfigs, type IdpType, idpTypes } from "./provider-types.ts";
