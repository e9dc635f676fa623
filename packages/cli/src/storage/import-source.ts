/** What `krmkit storage import` reads: lines of JSON, or a snapshot of etcd, which its first bytes tell apart. */
import { open } from 'node:fs/promises'
import { createCatalog } from '@krmkit/kinds'
import { createStoredForm } from '@krmkit/registry/stored-form'
import type { ImportSource, ValueTransformer } from '@krmkit/storage'
import { etcdSnapshotHeadBytes, isEtcdSnapshot, type RandomAccessFile, readEtcdSnapshot } from '@krmkit/storage/etcd'
import { CliError, messageOf } from '../cli-error.ts'
import type { Terminal } from '../offline/terminal.ts'
import { readInput, standardStream } from './store-files.ts'

export interface SnapshotFlags {
  readonly etcdPrefix: string
  readonly skipHashCheck: boolean
}

export interface SnapshotParts {
  readonly terminal: Terminal
  /** Decrypts the values in a snapshot. */
  readonly transforming: { readonly transformer?: ValueTransformer }
}

/** Opens a file or standard input, and closes it after `use`. @throws CliError `FileFailed`; errors of `use` */
export async function withImportSource<T>(
  path: string,
  flags: SnapshotFlags,
  { parts, use }: { readonly parts: SnapshotParts; readonly use: (source: ImportSource) => Promise<T> },
): Promise<T> {
  const { terminal } = parts
  if (path === standardStream) {
    const [head, chunks] = await peek(readInput(path, terminal))
    if (!isEtcdSnapshot(head)) return use({ chunks })
    return use(snapshotSource(bytesFile(await allOf(chunks)), flags, parts))
  }
  const file = await reading(path, () => open(path))
  try {
    const { size } = await reading(path, () => file.stat())
    const read = async (at: number, length: number) => {
      const { buffer, bytesRead } = await reading(path, () => file.read(Buffer.alloc(length), 0, length, at))
      return buffer.subarray(0, bytesRead)
    }
    if (!isEtcdSnapshot(await read(0, etcdSnapshotHeadBytes))) return await use({ chunks: readInput(path, terminal) })
    return await use(snapshotSource({ size, read }, flags, parts))
  } finally {
    await file.close()
  }
}

async function reading<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `cannot read ${path}: ${messageOf(cause)}`, cause })
  }
}

function snapshotSource(file: RandomAccessFile, flags: SnapshotFlags, { terminal, transforming }: SnapshotParts): ImportSource {
  const onSkipped = (key: string) => terminal.err(`${key} is skipped: its value is no object of a known kind\n`)
  return {
    entries: readEtcdSnapshot(file, {
      ...transforming,
      prefix: flags.etcdPrefix,
      form: createStoredForm({ catalog: createCatalog() }),
      skipHashCheck: flags.skipHashCheck,
      onSkipped,
    }),
  }
}

/** The first bytes, and all bytes with the first again. */
async function peek(chunks: AsyncGenerator<Uint8Array>): Promise<readonly [Buffer, AsyncGenerator<Uint8Array>]> {
  let head = Buffer.alloc(0)
  while (head.length < etcdSnapshotHeadBytes) {
    const { value, done } = await chunks.next()
    if (done === true) break
    head = Buffer.concat([head, value])
  }
  const all = async function* () {
    yield head
    yield* chunks
  }
  return [head, all()]
}

async function allOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts)
}

function bytesFile(bytes: Buffer): RandomAccessFile {
  return { size: bytes.length, read: async (at, length) => bytes.subarray(at, at + length) }
}
