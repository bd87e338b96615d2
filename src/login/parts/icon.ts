import { html, type Html } from "../../html.ts";

const shapes = {
  /** Rings around a point: the sign of the service where an owner has no logo. */
  mark: html`<circle cx="12" cy="12" r="2.4" fill="currentColor" stroke="none"/><path d="M6.6 12a5.4 5.4 0 0 1 10.8 0v3"/><path d="M2.6 12a9.4 9.4 0 0 1 18.8 0"/><path d="M6.6 15.4c.4 2.6 2.2 4.4 5.4 4.4"/>`,
  globe: html`<circle cx="12" cy="12" r="9"/><path d="M3 12h18M12 3c5 5.5 5 12.5 0 18M12 3c-5 5.5-5 12.5 0 18"/>`,
  check: html`<path d="m5 12.5 4.5 4.5L19 7.5"/>`,
  alert: html`<circle cx="12" cy="12" r="9"/><path d="M12 7.5v5.5M12 16.4v.1"/>`,
  next: html`<path d="m9.5 6 6 6-6 6"/>`,
  key: html`<circle cx="8" cy="12" r="4"/><path d="M12 12h9v3.5M17 12v3"/>`,
  phone: html`<rect x="7" y="2.5" width="10" height="19" rx="2.5"/><path d="M11 18h2"/>`,
  mail: html`<rect x="3" y="5" width="18" height="14" rx="2.5"/><path d="m4 7.5 8 6 8-6"/>`,
  message: html`<path d="M4 5.5h16a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1h-9l-4.5 3.5v-3.5H4a1 1 0 0 1-1-1v-10a1 1 0 0 1 1-1Z"/><path d="M8 11.5h.1M12 11.5h.1M16 11.5h.1"/>`,
  lifebuoy: html`<circle cx="12" cy="12" r="9"/><circle cx="12" cy="12" r="3.8"/><path d="m5.7 5.7 3.6 3.6M14.7 14.7l3.6 3.6M18.3 5.7l-3.6 3.6M9.3 14.7l-3.6 3.6"/>`,
  person: html`<circle cx="12" cy="8.5" r="4"/><path d="M4.5 20c.8-4 3.8-6 7.5-6s6.7 2 7.5 6"/>`,
  eye: html`<path d="M2.5 12C5 7.5 8.3 5.5 12 5.5s7 2 9.5 6.5c-2.5 4.5-5.8 6.5-9.5 6.5s-7-2-9.5-6.5Z"/><circle cx="12" cy="12" r="2.8"/>`,
  remove: html`<path d="m7 7 10 10M17 7 7 17"/>`,
  plus: html`<path d="M12 5.5v13M5.5 12h13"/>`,
  branch: html`<circle cx="7" cy="5.5" r="2.2"/><circle cx="7" cy="18.5" r="2.2"/><circle cx="17" cy="8.5" r="2.2"/><path d="M7 7.7v8.6M17 10.7c0 3.3-10 2-10 5.6"/>`,
  building: html`<path d="M5 20.5V5a1 1 0 0 1 1-1h7a1 1 0 0 1 1 1v15.5M14 10h4a1 1 0 0 1 1 1v9.5M3 20.5h18M8 8h3M8 12h3M8 16h3"/>`,
  badge: html`<rect x="3" y="5" width="18" height="14" rx="2.5"/><circle cx="8.5" cy="11" r="2"/><path d="M5.5 16c.5-1.7 1.6-2.4 3-2.4s2.5.7 3 2.4M14.5 10h4M14.5 14h4"/>`,
  lock: html`<rect x="5" y="10.5" width="14" height="10" rx="2.5"/><path d="M8 10.5V7.5a4 4 0 0 1 8 0v3M12 14.5v2"/>`,
  shield: html`<path d="M12 3.2 5 5.8v5.4c0 4.5 2.9 7.9 7 9.6 4.1-1.7 7-5.1 7-9.6V5.8Z"/><path d="m9 12 2.2 2.2L15.2 10"/>`,
  clock: html`<circle cx="12" cy="12" r="9"/><path d="M12 7v5.3l3.4 2"/>`,
  file: html`<path d="M6.5 3h7.5l4.5 4.5V20a1 1 0 0 1-1 1h-11a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1Z"/><path d="M14 3v4.5h4.5M12 11v6m0 0 2.5-2.5M12 17l-2.5-2.5"/>`,
  leave: html`<path d="M14 4H6a1 1 0 0 0-1 1v14a1 1 0 0 0 1 1h8M10 12h10m0 0-3.5-3.5M20 12l-3.5 3.5"/>`,
  device: html`<rect x="3" y="4.5" width="18" height="12" rx="2"/><path d="M8 20h8M12 16.5V20"/>`,
} as const;

export type IconName = keyof typeof shapes;

/** A picture that says nothing which the text beside it does not say. */
export const icon = (name: IconName): Html =>
  html`<svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${shapes[name]}</svg>`;
