import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

/** A page in headless Chromium, driven over its debugging pipe with real key and mouse events, without a library. */

const commands = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']

/** Path of the browser: the variable `CHROMIUM`, or the first one on the path. */
export function findChromium(): string | undefined {
  return findOnPath('CHROMIUM', commands)
}

/** Path of an executable: the value of the variable, or the first of the commands on the path. */
export function findOnPath(variable: string, commands: readonly string[]): string | undefined {
  const named = process.env[variable]
  if (named !== undefined && named !== '') return named
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.flatMap((folder) => commands.map((command) => join(folder, command))).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export interface PageOptions {
  readonly url: string
  readonly width: number
  readonly height: number
}

interface Answer {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly [name: string]: unknown }
  readonly result?: { readonly [name: string]: unknown }
  readonly error?: { readonly message: string }
}

/** A page. A CSS selector that matches nothing is an error. */
export class BrowserPage implements AsyncDisposable {
  readonly #browser: ChildProcess
  readonly #profile: string
  readonly #waiting = new Map<number, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>()
  readonly #loads: (() => void)[] = []
  #session: string | undefined
  #last = 0
  /** Exceptions and errors of the page's console. */
  readonly faults: string[] = []

  static async open(executable: string, options: PageOptions): Promise<BrowserPage> {
    const page = new BrowserPage(executable, options)
    await page.#start(options)
    return page
  }

  private constructor(executable: string, { width, height }: PageOptions) {
    this.#profile = mkdtempSync(join(tmpdir(), 'krmkit-chromium-'))
    const flags = ['--headless=new', '--remote-debugging-pipe', '--no-first-run', '--disable-gpu', '--disable-dev-shm-usage']
    const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    this.#browser = spawn(
      executable,
      [...flags, ...sandbox, `--user-data-dir=${this.#profile}`, `--window-size=${width},${height}`, 'about:blank'],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
    )
    let rest = ''
    ;(this.#browser.stdio[4] as Readable).setEncoding('utf8').on('data', (text: string) => {
      const messages = (rest + text).split('\0')
      rest = messages.pop() ?? ''
      for (const message of messages) this.#take(JSON.parse(message) as Answer)
    })
    const fail = (error: Error) => {
      for (const { reject } of this.#waiting.values()) reject(error)
    }
    this.#browser.on('error', fail).on('exit', (code) => fail(new Error(`the browser ended with ${code}`)))
  }

  async #start({ url, width, height }: PageOptions): Promise<void> {
    const { targetId } = await this.#call('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await this.#call('Target.attachToTarget', { targetId, flatten: true })
    this.#session = sessionId as string
    for (const domain of ['Page', 'Runtime', 'Log']) await this.#call(`${domain}.enable`)
    await this.resize(width, height)
    await this.navigate(url)
  }

  /** Loads another page. */
  async navigate(url: string): Promise<void> {
    const loaded = new Promise<void>((resolve) => this.#loads.push(resolve))
    await this.#call('Page.navigate', { url })
    await loaded
  }

  #call(method: string, params: object = {}): Promise<{ readonly [name: string]: unknown }> {
    const id = ++this.#last
    const session = this.#session === undefined ? {} : { sessionId: this.#session }
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: ({ result = {} }) => resolve(result), reject })
      ;(this.#browser.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, ...session })}\0`)
    })
  }

  #take({ id, method, params, error, ...answer }: Answer): void {
    if (method === 'Page.loadEventFired') for (const resolve of this.#loads.splice(0)) resolve()
    if (method === 'Runtime.exceptionThrown' || method === 'Log.entryAdded') this.faults.push(JSON.stringify(params))
    const waiting = id === undefined ? undefined : this.#waiting.get(id)
    if (id === undefined || waiting === undefined) return
    this.#waiting.delete(id)
    if (error === undefined) waiting.resolve(answer)
    else waiting.reject(new Error(error.message))
  }

  /** The value of an expression in the page, or of its promise; it must be JSON-serializable. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = (await this.#call('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    })) as {
      result?: { value?: T }
      exceptionDetails?: { exception?: { description?: string } }
    }
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? expression)
    return result?.value as T
  }

  async resize(width: number, height: number): Promise<void> {
    await this.#call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
  }

  /** Moves the mouse to the element and clicks. */
  async click(selector: string): Promise<void> {
    const { x, y } = await this.evaluate<{ x: number; y: number }>(`(() => {
      const found = document.querySelector(${JSON.stringify(selector)})
      if (found === null) throw new Error('no element matches ' + ${JSON.stringify(selector)})
      found.scrollIntoView({ block: 'center' })
      const { left, top, width, height } = found.getBoundingClientRect()
      return { x: left + width / 2, y: top + height / 2 }
    })()`)
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.#call('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 })
    }
  }

  /** Replaces the content of the element by typing. */
  async type(selector: string, text: string): Promise<void> {
    await this.click(selector)
    await this.evaluate(`document.querySelector(${JSON.stringify(selector)}).select()`)
    await this.#call('Input.insertText', { text })
  }

  /** A screenshot as PNG. */
  async picture(): Promise<Buffer> {
    const { data } = await this.#call('Page.captureScreenshot', { format: 'png' })
    return Buffer.from(data as string, 'base64')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#browser.once('exit', resolve))
    this.#session = undefined
    if (this.#browser.exitCode === null && this.#browser.pid !== undefined) {
      void this.#call('Browser.close').catch(() => this.#browser.kill())
      await ended
    }
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 })
  }
}
