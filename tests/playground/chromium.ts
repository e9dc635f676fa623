import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

/** Headless Chromium over its DevTools protocol, on pipes. */

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']

/** Path of the browser: `CHROMIUM`, or one on the path. Undefined when there is none. */
export function findChromium(): string | undefined {
  const { CHROMIUM: given, PATH = '' } = process.env
  if (given !== undefined && given !== '') return given
  return PATH.split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => existsSync(path))
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly sessionId?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
}

/** A page of a browser that closes with it. */
export class ChromiumPage implements AsyncDisposable {
  /** Errors of the page: exceptions, and messages of the console's level error. */
  readonly errors: string[] = []
  readonly #process: ReturnType<typeof spawn>
  readonly #folder = mkdtempSync(join(tmpdir(), 'krmkit-chromium-'))
  readonly #pending = new Map<number, { resolve: (result: Record<string, unknown>) => void; reject: (error: Error) => void }>()
  #session: string | undefined
  #lastId = 0
  #rest = ''
  #onLoad: (() => void) | undefined

  static async open(browser: string, url: string, { width = 1280, height = 900 } = {}): Promise<ChromiumPage> {
    const page = new ChromiumPage(browser)
    const { targetId } = await page.send('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await page.send('Target.attachToTarget', { targetId, flatten: true })
    page.#session = sessionId as string
    await page.send('Runtime.enable')
    await page.send('Log.enable')
    await page.send('Page.enable')
    await page.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 })
    const loaded = new Promise<void>((resolve) => {
      page.#onLoad = resolve
    })
    await page.send('Page.navigate', { url })
    await loaded
    return page
  }

  private constructor(browser: string) {
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-pipe']
    const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] as const
    this.#process = spawn(browser, [...flags, `--user-data-dir=${this.#folder}`], { stdio: [...stdio] })
    const [, , , , output] = this.#process.stdio
    ;(output as Readable).setEncoding('utf8').on('data', (text: string) => this.#receive(text))
    this.#process.on('exit', () => {
      for (const { reject } of this.#pending.values()) reject(new Error('the browser ended'))
    })
  }

  send(method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const id = ++this.#lastId
    const session = this.#session === undefined ? {} : { sessionId: this.#session }
    const input = this.#process.stdio[3] as Writable
    input.write(`${JSON.stringify({ id, method, params, ...session })}\0`)
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }))
  }

  /** The value of an expression in the page; promises are awaited. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails))
    return (result as { value: T }).value
  }

  /** A picture, by default as PNG. */
  async screenshot(format: 'png' | 'webp' = 'png'): Promise<Buffer> {
    const quality = format === 'png' ? {} : { quality: 80 }
    const { data } = await this.send('Page.captureScreenshot', { format, ...quality })
    return Buffer.from(data as string, 'base64')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve))
    this.#session = undefined
    this.send('Browser.close').catch(() => undefined)
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), 3000)
    await ended
    clearTimeout(timer)
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  #receive(text: string): void {
    const parts = (this.#rest + text).split('\0')
    this.#rest = parts.pop() ?? ''
    for (const part of parts) this.#handle(JSON.parse(part) as Message)
  }

  #handle({ id, method, params = {}, result, error }: Message): void {
    if (method === 'Page.loadEventFired') this.#onLoad?.()
    if (method === 'Runtime.exceptionThrown') this.errors.push(JSON.stringify(params.exceptionDetails))
    if (method === 'Log.entryAdded' && (params.entry as { level: string }).level === 'error')
      this.errors.push(JSON.stringify(params.entry))
    if (id === undefined) return
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (error === undefined) pending?.resolve(result ?? {})
    else pending?.reject(new Error(error.message))
  }
}
