import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './tokens.css';
import './base.css';

import { createRoot } from 'react-dom/client';

import { App } from './app';

async function start(): Promise<void> {
  if (import.meta.env.MODE === 'mock') {
    const { startMock } = await import('../testing/browser');
    await startMock();
  }
  const root = document.getElementById('root');
  if (!root) throw new Error('The page has no element #root to draw into');
  createRoot(root).render(<App />);
}

void start();
