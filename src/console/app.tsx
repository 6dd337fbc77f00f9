/** The console's screens, by address. */
import { LocationProvider, Route, Router } from 'preact-iso/router';
import { DeliveriesScreen } from './deliveries/deliveries-screen.js';
import { DeliveryScreen } from './delivery/delivery-screen.js';
import { OverviewScreen } from './overview/overview-screen.js';
import { Notice } from './parts/notice.js';
import { RecoverDialog } from './recover/recover-dialog.js';
import { Rail } from './shell/rail.js';
import { ToastLine } from './shell/toast-line.js';
import { SignedOut } from './sign-in/signed-out.js';
import { addressOf, CONSOLE } from './state/addresses.js';
import { sessionState } from './state/session.js';
import { shownLanguage, texts } from './texts/texts.js';

export function App() {
  const state = sessionState.value;
  const t = texts.value;
  if (state.kind === 'opening' || !shownLanguage.value)
    return <div class="opening" role="status" aria-label={t.freshness.loading} />;
  if (state.kind === 'closed') return <SignedOut why={state.why} returnUrl={state.returnUrl} />;
  return (
    <LocationProvider scope={CONSOLE}>
      <a class="skip" href="#screen">
        {t.skip}
      </a>
      <div class="frame">
        <Rail session={state.session} />
        <main id="screen" tabIndex={-1}>
          <Router>
            <Route path={addressOf('')} component={OverviewScreen} />
            <Route path={addressOf('/deliveries')} component={DeliveriesScreen} />
            <Route path={addressOf('/deliveries/:id')} component={DeliveryScreen} />
            <Route default component={NoScreen} />
          </Router>
        </main>
      </div>
      <RecoverDialog />
      <ToastLine />
    </LocationProvider>
  );
}

function NoScreen() {
  const t = texts.value.noScreen;
  return (
    <Notice icon="search" title={t.title}>
      <a class="button" href={addressOf('')}>
        {t.back}
      </a>
    </Notice>
  );
}
