/** The console's entry: signs in by the link that opened the page, or by the session that is there, and shows its screens. */
import './styles/console.css';
import { render } from 'preact';
import { LocationProvider, Route, Router } from 'preact-iso/router';
import { HistoryScreen } from './history/history-screen.js';
import { OverviewScreen } from './overview/overview-screen.js';
import { ToastLine } from './parts/modal.js';
import { DeliveryScreen, PaymentScreen } from './payments/payment-screen.js';
import { PaymentsScreen } from './payments/payments-screen.js';
import { RecoverDialog } from './recover/recover-dialog.js';
import { asked } from './recover/recovering.js';
import { SecurityScreen } from './security/security-screen.js';
import { ConfirmSignIn } from './shell/confirm-sign-in.js';
import { Rail, SignedInAs } from './shell/rail.js';
import { Search } from './shell/search.js';
import { SessionOver, SignedOut } from './shell/signed-out.js';
import { addressOf, CONSOLE } from './state/addresses.js';
import { isOver, openSession, sessionState } from './state/session.js';
import { loadedTexts, texts } from './texts/texts.js';
import { WebhookScreen } from './webhooks/webhook-screen.js';
import { WebhooksScreen } from './webhooks/webhooks-screen.js';

function App() {
  const state = sessionState.value;
  if (state.kind === 'opening' || !loadedTexts.value) return <div role="status" />;
  if (state.kind === 'asking') return <ConfirmSignIn code={state.code} preview={state.preview} />;
  if (state.kind === 'closed') return <SignedOut why={state.why} returnUrl={state.returnUrl} />;
  return (
    <LocationProvider scope={CONSOLE}>
      <a class="skip" href="#screen">
        {texts.value.skip}
      </a>
      <div class="frame">
        <Rail session={state.session} />
        <main id="screen" class="stack" tabIndex={-1}>
          <SignedInAs session={state.session} />
          <Search />
          <Router>
            <Route path={addressOf('/webhooks')} component={WebhooksScreen} />
            <Route path={addressOf('/webhooks/:id')} component={WebhookScreen} />
            <Route path={addressOf('/payments')} component={PaymentsScreen} />
            <Route path={addressOf('/payments/:id')} component={PaymentScreen} />
            <Route path={addressOf('/deliveries/:id')} component={DeliveryScreen} />
            <Route path={addressOf('/history')} component={HistoryScreen} />
            <Route path={addressOf('/security')} component={SecurityScreen} />
            <Route default component={OverviewScreen} />
          </Router>
        </main>
      </div>
      {asked.value && <RecoverDialog key={asked.value} webhookId={asked.value} />}
      {isOver.value && <SessionOver returnUrl={state.session.returnUrl} />}
      <ToastLine />
    </LocationProvider>
  );
}

render(<App />, document.getElementById('console') as HTMLElement);
openSession();
