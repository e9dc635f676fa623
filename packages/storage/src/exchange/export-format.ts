/**
 * The form of an export: lines of JSON, one for each object, readable by other programs.
 *
 *     {"krmkitExport":1,"revision":42}
 *     {"key":"/core/configmaps/shop/web","revision":41,"created":40,"value":{...}}
 *     {"key":"/krmkit/emulated-release","revision":12,"created":12,"base64":"..."}     a value that is no JSON object
 *     {"entries":2,"sha256":"..."}                                                    of all bytes before this line
 */
import { createHash } from 'node:crypto'
import type { Entry, Revision } from '../interfaces.ts'
import { unavailable } from '../lmdb/data-dir.ts'

const formatVersion = 1
const openingBrace = 0x7b
/** Bytes per call of `write`. */
const chunkBytes = 256 * 1024
const valueMember = ',"value":'

/** An object of an export, with its original revisions. */
export type ExportedEntry = Pick<Entry, 'key' | 'value' | 'revision' | 'created'>

export interface ExportSummary {
  /** Of the exported state. */
  readonly revision: Revision
  readonly entries: number
}

/** Stores the next bytes. The next call waits for the promise. */
export type WriteBytes = (chunk: Uint8Array) => Promise<void>

/** Writes objects at one revision as a file. */
export type ExportFormat = (
  entries: AsyncIterable<ExportedEntry> | Iterable<ExportedEntry>,
  target: { readonly revision: Revision; readonly write: WriteBytes },
) => Promise<ExportSummary>

/** The objects in a file. The generator returns the summary after it has verified the checksum. */
export type ExportedEntries = AsyncGenerator<ExportedEntry, ExportSummary>

/** The source of an import: the bytes of an export, or objects that a reader extracts from a file in another format. */
export type ImportSource =
  | { readonly chunks: AsyncIterable<Uint8Array>; readonly entries?: undefined }
  | { readonly entries: ExportedEntries; readonly chunks?: undefined }

export function entriesOf({ chunks, entries }: ImportSource): ExportedEntries {
  return entries ?? readExport(chunks)
}

/** Lines of JSON. */
export const writeExport: ExportFormat = async (entries, { revision, write }) => {
  const hash = createHash('sha256')
  let pending: Buffer[] = []
  let pendingBytes = 0
  let count = 0
  const add = async (text: string) => {
    const bytes = Buffer.from(`${text}\n`)
    hash.update(bytes)
    pending.push(bytes)
    pendingBytes += bytes.length
    if (pendingBytes < chunkBytes) return
    await write(Buffer.concat(pending))
    pending = []
    pendingBytes = 0
  }
  await add(JSON.stringify({ krmkitExport: formatVersion, revision }))
  for await (const entry of entries) {
    await add(lineOf(entry))
    count++
  }
  const sha256 = hash.digest('hex')
  await write(Buffer.concat([...pending, Buffer.from(`${JSON.stringify({ entries: count, sha256 })}\n`)]))
  return { revision, entries: count }
}

/** The line of one object. The value is copied unchanged, so that numbers keep their digits. */
function lineOf({ key, value, revision, created }: ExportedEntry): string {
  const head = JSON.stringify({ key, revision, created }).slice(0, -1)
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  const isLine = value[0] === openingBrace && !bytes.includes(0x0a)
  return isLine ? `${head}${valueMember}${bytes.toString('utf8')}}` : `${head},"base64":"${bytes.toString('base64')}"}`
}

/**
 * Reads an export. The generator returns when the checksum has been verified; do not trust the objects before.
 *
 * @throws StorageError `Unavailable`: `foreign` for other files and newer formats, `corrupt` for a damaged or incomplete export
 */
async function* readExport(chunks: AsyncIterable<Uint8Array>): ExportedEntries {
  const hash = createHash('sha256')
  let revision: Revision | undefined
  let entries = 0
  let summary: ExportSummary | undefined
  for await (const line of linesOf(chunks)) {
    if (summary !== undefined) throw damaged('goes on after its last line')
    const text = line.toString('utf8')
    if (revision === undefined) revision = revisionOf(text)
    else if (text.startsWith('{"entries":')) {
      const { entries: expected, sha256 } = parse(text) as { entries?: unknown; sha256?: unknown }
      if (sha256 !== hash.digest('hex') || expected !== entries) throw damaged('is damaged: its checksum differs')
      summary = { revision, entries }
      continue
    } else {
      yield entryOf(text)
      entries++
    }
    hash.update(line).update('\n')
  }
  if (summary === undefined) throw revision === undefined ? foreign() : damaged('ends early: its last line is missing')
  return summary
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []
  for await (const chunk of chunks) {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a)) {
      yield Buffer.concat([...rest, bytes.subarray(0, end)])
      rest = []
      bytes = bytes.subarray(end + 1)
    }
    if (bytes.length > 0) rest.push(bytes)
  }
  if (rest.length > 0) yield Buffer.concat(rest)
}

function revisionOf(text: string): Revision {
  let head: { krmkitExport?: unknown; revision?: unknown }
  try {
    head = JSON.parse(text) as typeof head
  } catch (cause) {
    throw unavailable('foreign', 'the file is not an export of krmkit', cause)
  }
  const { krmkitExport, revision } = head
  if (typeof krmkitExport !== 'number') throw foreign()
  if (krmkitExport !== formatVersion) {
    throw unavailable('foreign', 'the export has a newer format: import it with the version of krmkit that wrote it')
  }
  if (!Number.isSafeInteger(revision) || (revision as number) < 1) throw damaged('is damaged: it names no revision')
  return revision as number
}

function entryOf(text: string): ExportedEntry {
  const { key, revision, created, base64 } = parse(text) as Partial<Record<'key' | 'revision' | 'created' | 'base64', unknown>>
  const isPlaced = typeof key === 'string' && Number.isSafeInteger(revision) && Number.isSafeInteger(created)
  // Quotes inside strings are escaped, so the first match is the member.
  const at = text.indexOf(valueMember)
  if (!isPlaced || (at < 0 && typeof base64 !== 'string')) throw damaged('is damaged: a line is no object')
  const value = at < 0 ? Buffer.from(String(base64), 'base64') : Buffer.from(text.slice(at + valueMember.length, -1))
  return { key, revision: Number(revision), created: Number(created), value }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unavailable('corrupt', 'the export is damaged: a line is no JSON; use another export', cause)
  }
}

function foreign() {
  return unavailable('foreign', 'the file is not an export of krmkit')
}

function damaged(problem: string) {
  return unavailable('corrupt', `the export ${problem}; use another export`)
}
