#!/usr/bin/env node
// The sources are TypeScript and run as they are: no build step stands between a clone and its command line.
import { register } from 'tsx/esm/api';

register();
await import('./main.ts');
