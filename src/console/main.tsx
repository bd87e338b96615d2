import { TransportProvider } from "@connectrpc/connect-query";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { logIn, queryClient, transport } from "./calls.ts";
import { isSignedOut } from "./page-data.ts";
import { readReader } from "./rights.ts";
import { router } from "./router.tsx";
/* oxlint-disable import/no-unassigned-import -- styles of pages that are loaded later: the build loads those of the first file alone */
import "./forms/forms.module.css";
import "./objects/objects.module.css";
import "./parts/parts.module.css";
/* oxlint-enable import/no-unassigned-import */

const element = document.getElementById("console");
// Whoever is signed out for certain is led to the log-in before anything is asked that would be refused.
if (element !== null && !(isSignedOut && logIn())) {
  // Asked while the files of the page are loaded: no page is shown before it is answered. Who is not signed in is told by the page.
  void readReader().catch(() => undefined);
  createRoot(element).render(
    <StrictMode>
      <TransportProvider transport={transport}>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </TransportProvider>
    </StrictMode>,
  );
}
