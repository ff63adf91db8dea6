import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './tokens.css';
import './base.css';

import { setNonce } from 'get-nonce';
import { createRoot } from 'react-dom/client';

import { readStyleNonce } from '../lib/style-nonce';
import { App } from './app';

async function start(): Promise<void> {
  if (import.meta.env.MODE === 'mock') {
    const { startMock } = await import('../testing/browser');
    await startMock();
  }
  // Dialogs keep the page behind them from scrolling by a style element of their own, which needs the nonce as well.
  setNonce(readStyleNonce());
  const root = document.getElementById('root');
  if (!root) throw new Error('The page has no element #root to draw into');
  createRoot(root).render(<App />);
}

void start();
