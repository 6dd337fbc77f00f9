/** The console's screens, by address. Each is a chunk of its own, loaded when its address is opened. */
import { LocationProvider, Route, Router } from 'preact-iso/router';
import { dialog, screen } from './parts/lazily.js';
import { Notice } from './parts/notice.js';
import { ToastLine } from './parts/toast-line.js';
import { asked, closeRecovery } from './recover/recovering.js';
import { Rail } from './shell/rail.js';
import { SessionOver, SignedOut } from './sign-in/signed-out.js';
import { addressOf, CONSOLE } from './state/addresses.js';
import { isOver, sessionState } from './state/session.js';
import { shownLanguage, texts } from './texts/texts.js';

const OverviewScreen = screen(async () => (await import('./overview/overview-screen.js')).OverviewScreen);
const DeliveriesScreen = screen(async () => (await import('./deliveries/deliveries-screen.js')).DeliveriesScreen);
const DeliveryScreen = screen(async () => (await import('./delivery/delivery-screen.js')).DeliveryScreen);
const WebhooksScreen = screen(async () => (await import('./webhooks/webhooks-screen.js')).WebhooksScreen);
const WebhookScreen = screen(async () => (await import('./webhooks/webhook-screen.js')).WebhookScreen);
const EventsScreen = screen(async () => (await import('./events/events-screen.js')).EventsScreen);
const HistoryScreen = screen(async () => (await import('./history/history-screen.js')).HistoryScreen);
const SecurityScreen = screen(async () => (await import('./security/security-screen.js')).SecurityScreen);
const RecoverDialog = dialog(async () => (await import('./recover/recover-dialog.js')).RecoverDialog);

export function App() {
  const state = sessionState.value;
  if (state.kind === 'opening' || !shownLanguage.value) return <div role="status" />;
  const t = texts.value;
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
            <Route path={addressOf('/webhooks')} component={WebhooksScreen} />
            <Route path={addressOf('/webhooks/:id')} component={WebhookScreen} />
            <Route path={addressOf('/deliveries')} component={DeliveriesScreen} />
            <Route path={addressOf('/deliveries/:id')} component={DeliveryScreen} />
            <Route path={addressOf('/events')} component={EventsScreen} />
            <Route path={addressOf('/history')} component={HistoryScreen} />
            <Route path={addressOf('/security')} component={SecurityScreen} />
            <Route default component={NoScreen} />
          </Router>
        </main>
      </div>
      {asked.value && <RecoverDialog key={asked.value.health.webhookId} {...asked.value} onClose={closeRecovery} />}
      {isOver.value && <SessionOver returnUrl={state.session.returnUrl} />}
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
