/** Elements of the page, found and made. */

/** The element of that id. @throws Error if the page lacks it or it is of another kind */
export function byId<T extends HTMLElement>(id: string, kind: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return element;
}

type Child = Node | string;
type Attributes = Readonly<Record<string, string | undefined>>;

/** An element with attributes (undefined ones are left out) and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A table with a caption, a row of headings and rows whose first cell heads them. */
export function makeTable(
  caption: string,
  headings: readonly Child[],
  rows: readonly (readonly Child[])[],
): HTMLTableElement {
  const head = make('tr', {}, ...headings.map((h) => make('th', { scope: 'col' }, h)));
  const body = rows.map(([first, ...rest]) =>
    make('tr', {}, make('th', { scope: 'row' }, first ?? ''), ...rest.map((cell) => make('td', {}, cell))),
  );
  return make('table', {}, make('caption', {}, caption), make('thead', {}, head), make('tbody', {}, ...body));
}

/** The value of the checked radio button of that name. */
export const checkedValue = (name: string): string =>
  document.querySelector<HTMLInputElement>(`input[name="${name}"]:checked`)?.value ?? '';
