/** Elements of the page. Texts are only set as text, so that no content of objects is read as HTML. */

/** The element with an id. @throws Error when the page has none of that class */
export function find<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id)
  if (found instanceof type) return found
  throw new Error(`the page has no ${type.name} #${id}`)
}

/** The value of an input without spaces around it. */
export function inputValue(id: string): string {
  return find(id, HTMLInputElement).value.trim()
}

/** Creates an element with a class and contents. */
export function create<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  ...contents: (string | Node)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name)
  if (className !== '') element.className = className
  element.append(...contents)
  return element
}

/** Lets the keyboard scroll an element whose lines may be wider than it. */
export function scrolling<E extends HTMLElement>(element: E): E {
  element.tabIndex = 0
  return element
}

/** Appends to a log and keeps its end in view when it was in view. */
export function appendLine(log: HTMLElement, text: string, className = ''): void {
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40
  log.append(create('pre', className, text.replace(/\n$/, '')))
  while (log.childElementCount > 500) log.firstElementChild?.remove()
  if (isAtEnd) log.scrollTop = log.scrollHeight
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
