import '@testing-library/jest-dom/vitest';

import { cleanup, configure } from '@testing-library/react';
import { afterEach, vi } from 'vitest';

// A machine that is busy with other suites is no reason to fail; nor is a page of DOM a useful message. Asking of every
// element whether it is hidden costs most of the time of a query by role in jsdom, which lays nothing out anyway.
configure({
  asyncUtilTimeout: 10_000,
  defaultHidden: true,
  getElementError: (message) => new Error(message?.split('\n\n')[0] ?? 'not found'),
});

afterEach(cleanup);

// jsdom has neither; Mantine and React Flow ask for both.
Object.defineProperty(window, 'matchMedia', {
  writable: true,
  value: (query: string) => ({
    matches: false,
    media: query,
    onchange: null,
    addEventListener: vi.fn(),
    removeEventListener: vi.fn(),
    dispatchEvent: vi.fn(),
  }),
});

class SilentObserver {
  observe() {}
  unobserve() {}
  disconnect() {}
}
globalThis.ResizeObserver ??= SilentObserver as unknown as typeof ResizeObserver;
globalThis.IntersectionObserver ??= SilentObserver as unknown as typeof IntersectionObserver;
Element.prototype.scrollIntoView ??= () => {};

// Mantine's growing text areas listen for fonts that arrive.
if (!('fonts' in document)) Object.defineProperty(document, 'fonts', { value: new EventTarget() });
