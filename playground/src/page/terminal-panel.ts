import { appendLine, find, inputValue, messageOf } from './elements.ts'
import type { RunningCall, WorkerClient } from './worker-client.ts'

/** The terminal: its prompt, history and output. */

export interface TerminalPanelOptions {
  readonly worker: WorkerClient
  /** Text of the editor. */
  readonly manifests: () => string
  /** Called after each command. */
  readonly onDone: () => void
}

export class TerminalPanel {
  readonly #options: TerminalPanelOptions
  readonly #output = find('output', HTMLDivElement)
  readonly #input = find('line', HTMLInputElement)
  readonly #stop = find('stop', HTMLButtonElement)
  readonly #history: string[] = []
  #position = 0
  #running: RunningCall<number> | undefined

  constructor(options: TerminalPanelOptions) {
    this.#options = options
    find('prompt', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault()
      const line = this.#input.value.trim()
      this.#input.value = ''
      if (line !== '') void this.run(line)
    })
    this.#input.addEventListener('keydown', (event) => this.#onKey(event))
    this.#stop.addEventListener('click', () => this.#running?.stop())
  }

  /** Accepts commands. */
  enable(): void {
    this.#input.disabled = false
    find('run', HTMLButtonElement).disabled = false
  }

  /** Runs a line and prints it with its output. A running command is stopped before. */
  async run(line: string): Promise<void> {
    this.#running?.stop()
    await this.#running?.result.catch(() => undefined)
    this.#history.push(line)
    this.#position = this.#history.length
    appendLine(this.#output, `$ ${line}`, 'command')
    this.#output.scrollTop = this.#output.scrollHeight
    if (line === 'clear') return this.#output.replaceChildren()
    const given = { line, manifests: this.#options.manifests(), namespace: inputValue('namespace') || 'default' }
    const running = this.#options.worker.start('run', given, (text, isError) =>
      appendLine(this.#output, text, isError ? 'error' : ''),
    )
    this.#running = running
    this.#stop.hidden = false
    try {
      await running.result
    } catch (error) {
      appendLine(this.#output, messageOf(error), 'error')
    }
    if (this.#running === running) this.#stop.hidden = true
    this.#options.onDone()
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key === 'c' && event.ctrlKey && this.#input.selectionStart === this.#input.selectionEnd) this.#running?.stop()
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
    event.preventDefault()
    const next = this.#position + (event.key === 'ArrowUp' ? -1 : 1)
    this.#position = Math.min(Math.max(next, 0), this.#history.length)
    this.#input.value = this.#history[this.#position] ?? ''
  }
}
