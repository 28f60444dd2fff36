// A thread starts with Node's own loader, which knows no TypeScript.
import { register } from 'tsx/esm/api';

register();
await import('./checkWorker.ts');
