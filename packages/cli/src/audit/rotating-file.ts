import { createReadStream, createWriteStream } from 'node:fs'
import { type FileHandle, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { LineSink } from '@krmkit/apiserver/audit'
import { ensureParentDirectory, ensurePrivateFile, openPrivateFile } from '@krmkit/base/private-files'
import type { Clock } from '@krmkit/meta'

export interface RotationOptions {
  readonly clock: Clock
  /** The file is rotated before it grows beyond this size. */
  readonly maxBytes: number
  /** 0: no limit. */
  readonly maxAgeMs: number
  /** Number of rotated files to keep; 0: no limit. */
  readonly maxBackups: number
  readonly compress: boolean
}

/**
 * Opens a log file with mode 0600. A full file is renamed to `name-2006-01-02T15-04-05.000.ext`; rotated files are deleted by age and
 * number. Texts that arrive during a write are written together.
 *
 * @throws Error of `node:fs` when the file cannot be opened.
 */
export async function openRotatingFile(path: string, options: RotationOptions): Promise<LineSink> {
  ensureParentDirectory(path)
  const file = new RotatingFile(path, options)
  await file.open()
  return file
}

class RotatingFile implements LineSink {
  readonly #path: string
  readonly #options: RotationOptions
  #handle: FileHandle | undefined
  #size = 0
  #waiting: { readonly text: string; readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = []
  #work: Promise<void> | undefined

  constructor(path: string, options: RotationOptions) {
    this.#path = path
    this.#options = options
  }

  async open(): Promise<void> {
    this.#handle = await openPrivateFile(this.#path)
    this.#size = (await this.#handle.stat()).size
  }

  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject })
      this.#work ??= this.#writeAll()
    })
  }

  async close(): Promise<void> {
    await this.#work
    await this.#handle?.close()
    this.#handle = undefined
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        await this.#writeOne(Buffer.from(batch.map(({ text }) => text).join('')))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#work = undefined
  }

  async #writeOne(bytes: Buffer): Promise<void> {
    if (this.#handle === undefined) await this.open()
    if (this.#size > 0 && this.#size + bytes.byteLength > this.#options.maxBytes) await this.#rotate()
    await this.#handle?.write(bytes)
    this.#size += bytes.byteLength
  }

  async #rotate(): Promise<void> {
    await this.#handle?.close()
    this.#handle = undefined
    const backup = this.#backupName()
    await rename(this.#path, backup)
    await this.open()
    if (this.#options.compress) await compress(backup)
    await this.#tidy()
  }

  #parts(): { readonly folder: string; readonly prefix: string; readonly extension: string } {
    const extension = extname(this.#path)
    return { folder: dirname(this.#path), prefix: `${basename(this.#path, extension)}-`, extension }
  }

  #backupName(): string {
    const { folder, prefix, extension } = this.#parts()
    const time = new Date(this.#options.clock.now()).toISOString().replaceAll(':', '-').replace('Z', '')
    return join(folder, `${prefix}${time}${extension}`)
  }

  /** Deletes rotated files beyond the maximum number and age. */
  async #tidy(): Promise<void> {
    const { maxBackups, maxAgeMs, clock } = this.#options
    const { folder, prefix, extension } = this.#parts()
    const backups = (await readdir(folder))
      .map((name) => ({ name, time: timeOf(name, prefix, extension) }))
      .filter(({ time }) => !Number.isNaN(time))
      .sort((a, b) => b.time - a.time)
    for (const [index, { name, time }] of backups.entries()) {
      const tooMany = maxBackups > 0 && index >= maxBackups
      const tooOld = maxAgeMs > 0 && time < clock.now() - maxAgeMs
      if (tooMany || tooOld) await rm(join(folder, name), { force: true })
    }
  }
}

/** The time in the name of a rotated file; NaN for other files. */
function timeOf(name: string, prefix: string, extension: string): number {
  const plain = name.endsWith('.gz') ? name.slice(0, -'.gz'.length) : name
  if (!plain.startsWith(prefix) || !plain.endsWith(extension)) return Number.NaN
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(
    plain.slice(prefix.length, plain.length - extension.length),
  )
  return match === null ? Number.NaN : Date.parse(`${match[1]}T${match[2]}:${match[3]}:${match[4]}Z`)
}

async function compress(path: string): Promise<void> {
  const packed = `${path}.gz`
  await rm(packed, { force: true })
  ensurePrivateFile(packed)
  await pipeline(createReadStream(path), createGzip(), createWriteStream(packed))
  await rm(path)
}
