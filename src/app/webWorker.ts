/** Web Workers as threads that answer calls. */
import type { Port, Thread } from '../verify/calls.ts';

/** The page's way to its worker. */
export const threadOf = <Sent, Received>(worker: Worker): Thread<Sent, Received> => ({
  send: (message, transfer) => worker.postMessage(message, transfer),
  receive: (take) => worker.addEventListener('message', ({ data }) => take(data)),
  failed: (tell) => {
    worker.addEventListener('error', (event) => {
      event.preventDefault(); // it is told here, and is no error of the page's too
      tell(event.message || 'its script does not load');
    });
    worker.addEventListener('messageerror', () => tell('what it says cannot be read'));
  },
  end: async () => worker.terminate(),
});

/** A worker's way to its page. */
export const pagePort = <Sent, Received>(): Port<Sent, Received> => ({
  send: (message, transfer) => postMessage(message, { transfer }),
  receive: (take) => addEventListener('message', ({ data }) => take(data)),
});
