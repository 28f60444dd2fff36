import { defineConfig } from 'vite';

/** The page. `./` as base, so that dist/ runs from any folder of any static server. */
export default defineConfig({
  base: './',
  publicDir: false,
  build: { outDir: 'dist', target: 'es2022', chunkSizeWarningLimit: 1500 },
  worker: { format: 'es' },
  server: { host: '127.0.0.1' },
  preview: { host: '127.0.0.1' },
});
