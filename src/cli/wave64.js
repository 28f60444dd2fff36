#!/usr/bin/env node
// The sources are TypeScript and run as they are: no build step stands between a clone and its command line.
import { register } from 'tsx/esm/api';

register();
const { main } = await import('./main.ts');
const { nodeIo } = await import('./node.ts');
process.exitCode = await main(process.argv.slice(2), nodeIo());
