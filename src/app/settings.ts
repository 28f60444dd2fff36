/** What is simulated: the controls above the panels. */
import { defaultTarget, findTarget, type Profile, type Target, targets } from '../isa/target.ts';
import { modeOf, type RoundName, rounds } from '../verify/demonstration.ts';
import { effectiveMode } from '../wavefront/mode.ts';
import { byId, checkedValue, make } from './dom.ts';

export interface Settings {
  readonly target: Target;
  readonly profile: Profile;
  readonly round: RoundName;
}

/** MODE as the target acts on it. */
export const modeFor = ({ target, round }: Settings): number => effectiveMode(modeOf(round), target.hasIeeeBit);

const isRound = (name: string): name is RoundName => name in rounds;

/** Fills the controls; gives a reader of their state. `changed` is called whenever that state changes. */
export function mountSettings(changed: () => void): () => Settings {
  const target = byId('target', HTMLSelectElement);
  const round = byId('round', HTMLSelectElement);
  target.replaceChildren(
    ...targets.map(({ name }) => new Option(name, name, name === defaultTarget, name === defaultTarget)),
  );
  const form = byId('settings', HTMLFormElement);
  form.addEventListener('change', changed);
  form.addEventListener('submit', (event) => event.preventDefault());
  return () => ({
    target: findTarget(target.value),
    profile: checkedValue('profile') === 'published' ? 'published' : 'hardware',
    round: isRound(round.value) ? round.value : 'rne',
  });
}

/** The line about the adapter in the page's head. */
export function showAdapter(state: 'webgpu' | 'none', ...lines: string[]): void {
  const line = byId('adapter', HTMLParagraphElement);
  line.dataset.engine = state === 'webgpu' ? 'webgpu' : 'reference';
  const [first, ...rest] = lines;
  line.replaceChildren(make('strong', {}, first ?? ''), ...rest.map((text) => make('span', {}, text)));
}
