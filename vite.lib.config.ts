import { defineConfig } from 'vite';

/** `lib/float64.js`, what the package exports as `wave64/float64`: plain JavaScript for Node and browsers, its shader modules inside. */
export default defineConfig({
  logLevel: 'warn',
  resolve: { conditions: ['browser'] },
  build: {
    outDir: 'lib',
    target: 'es2022',
    minify: false,
    lib: { entry: 'src/float64.ts', formats: ['es'], fileName: 'float64' },
    rollupOptions: { external: ['wesl'] },
  },
});
