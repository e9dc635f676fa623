import type { Diagnostic } from '../diagnostics.ts'
import type { ApplyPreview } from '../ownership.ts'
import { create, find, inputValue, messageOf, scrolling } from './elements.ts'
import { examples } from './examples.ts'
import type { WorkerClient } from './worker-client.ts'

/** The editor: its problems, and the preview of an apply. */

const delayMs = 250

export class EditorPanel {
  readonly #worker: WorkerClient
  readonly #area = find('manifests', HTMLTextAreaElement)
  readonly #gutter = find('gutter', HTMLDivElement)
  readonly #problems = find('problems', HTMLUListElement)
  readonly #changes = find('changes', HTMLElement)
  #timer: ReturnType<typeof setTimeout> | undefined
  #version = 0

  constructor(worker: WorkerClient, apply: () => void) {
    this.#worker = worker
    this.#area.addEventListener('input', () => this.#changed())
    this.#area.addEventListener('scroll', () => {
      this.#gutter.scrollTop = this.#area.scrollTop
    })
    const example = find('example', HTMLSelectElement)
    for (const name of Object.keys(examples)) example.append(create('option', '', name))
    example.addEventListener('change', () => {
      this.text = examples[example.value] ?? ''
    })
    find('preview', HTMLButtonElement).addEventListener('click', () => void this.preview())
    find('apply', HTMLButtonElement).addEventListener('click', apply)
  }

  get text(): string {
    return this.#area.value
  }

  set text(text: string) {
    this.#area.value = text
    this.#changed()
  }

  /** Validates the text again, for example after the release changed. */
  async validate(): Promise<void> {
    const version = ++this.#version
    try {
      const diagnostics = await this.#worker.call('diagnose', { text: this.text })
      if (version === this.#version) this.#show(diagnostics)
    } catch (error) {
      this.#problems.replaceChildren(create('li', 'error', messageOf(error)))
    }
  }

  async preview(): Promise<void> {
    const options = {
      manager: inputValue('manager') || 'kubectl',
      namespace: inputValue('namespace'),
      force: find('force', HTMLInputElement).checked,
    }
    try {
      const previews = await this.#worker.call('preview', { text: this.text, ...options })
      this.#changes.replaceChildren(...previews.flatMap(previewElements))
    } catch (error) {
      this.#changes.replaceChildren(create('p', 'error', messageOf(error)))
    }
  }

  #changed(): void {
    this.#number([])
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.validate(), delayMs)
  }

  #show(diagnostics: readonly Diagnostic[]): void {
    this.#number(diagnostics)
    const items = diagnostics.map(({ severity, line, column, message }) => {
      const button = create('button', '', create('span', severity, `${severity} ${line}:${column}`), ` ${message}`)
      button.type = 'button'
      button.addEventListener('click', () => this.#goTo(line, column))
      return create('li', '', button)
    })
    this.#problems.replaceChildren(...(items.length > 0 ? items : [create('li', 'dim', 'none')]))
  }

  /** Numbers the lines and marks those with problems. */
  #number(diagnostics: readonly Diagnostic[]): void {
    const marks = new Map<number, string>()
    for (const { line, severity } of diagnostics) if (marks.get(line) !== 'error') marks.set(line, severity)
    const count = this.text.split('\n').length
    this.#gutter.replaceChildren(
      ...Array.from({ length: count }, (_, index) => {
        const severity = marks.get(index + 1)
        return create('div', severity ?? '', `${severity === undefined ? '' : '● '}${index + 1}`)
      }),
    )
    this.#gutter.scrollTop = this.#area.scrollTop
  }

  #goTo(line: number, column: number): void {
    const lines = this.text.split('\n')
    const position = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1
    this.#area.focus()
    this.#area.setSelectionRange(position, position)
  }
}

function previewElements({ object, lines, conflicts, error }: ApplyPreview): Node[] {
  const title = create('p', '', create('strong', '', object))
  if (error !== undefined) return [title, create('p', 'error', error)]
  if (conflicts.length > 0) {
    const items = conflicts.map(({ field, message }) => create('li', 'error', `${message}: ${field}`))
    return [title, create('p', '', 'Conflicts; “Force” takes the fields over:'), create('ul', '', ...items)]
  }
  const classes = { '+': 'added', '-': 'removed', '@': 'dim', ' ': '' } as const
  const shown = lines.map(({ mark, text }) => create('li', classes[mark], `${mark} ${text}`))
  return [title, scrolling(create('ul', 'lines', ...shown))]
}
