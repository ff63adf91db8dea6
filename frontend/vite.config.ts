/// <reference types="vitest/config" />
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const backend = process.env.PAWL_BACKEND ?? 'http://127.0.0.1:8000';

export default defineConfig(({ mode, command }) => ({
  // Django serves the build below /static/; the mock mode stands alone.
  base: command === 'build' && mode !== 'mock' ? '/static/' : '/',
  plugins: [react()],
  // The service worker of the mock mode must never reach a real build.
  publicDir: mode === 'mock' ? 'src/testing/public' : false,
  build: {
    // Django's collectstatic leaves dot folders out, hence not the default '.vite/manifest.json'.
    manifest: 'manifest.json',
    outDir: mode === 'mock' ? 'dist-mock' : 'dist',
    target: 'es2022',
    sourcemap: false,
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      input: mode === 'mock' ? 'index.html' : ['src/app/main.tsx', 'src/app/tokens.css'],
    },
  },
  server: {
    proxy: {
      '/api': backend,
      '/accounts': backend,
      '/static': backend,
      '/ws': { target: backend, ws: true },
    },
  },
  test: {
    environment: 'jsdom',
    isolate: false, // a fresh world for each file costs as much as its tests; setup.ts clears up after each test
    setupFiles: ['src/testing/setup.ts'],
    css: false,
    testTimeout: 30_000,
    restoreMocks: true,
    unstubGlobals: true,
    sequence: { shuffle: true },
    coverage: { include: ['src/**'], exclude: ['src/testing/**'] },
  },
}));
