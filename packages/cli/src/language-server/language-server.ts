import { fileURLToPath, pathToFileURL } from 'node:url'
import { createTurns, Pace } from '@krmkit/base/work'
import { type ManifestDocument, readManifest } from '@krmkit/schema/manifest'
import { type ManifestFile, OfflineKinds } from 'krmkit/validate'
import { completionsAt } from './completion.ts'
import type { CodeAction, CompletionItem, Connection, Diagnostic, DocumentSymbol, Hover, Range } from './connection.ts'
import { codeActionsFor, overlap } from './diagnostics.ts'
import { type DocumentValidation, diagnosticsOf } from './document-validation.ts'
import { hoverAt } from './hover.ts'
import { jsonContext } from './json-context.ts'
import type { LanguageServerSettings } from './settings.ts'
import { symbolsOf } from './symbols.ts'
import { isJson, isManifestText, isTemplate, TextDocument } from './text-document.ts'
import type { ThreadLimits } from './thread-validator.ts'
import { findDefinitions } from './workspace-definitions.ts'
import { yamlContext } from './yaml-context.ts'

/** The open documents of an editor, and the responses about them. */

export interface LanguageServerOptions {
  readonly connection: Connection
  readonly settings: LanguageServerSettings
  /** Folders of the workspace, as paths. */
  readonly folders: readonly string[]
  /** The program that runs in threads. */
  readonly program: string
  readonly limits?: ThreadLimits
}

/** Time without changes after which a document is validated, in milliseconds. */
const quietMs = 150
/** Longest text with hover, completion and symbols, in UTF-16 units. */
const maxParsedLength = 2 * 2 ** 20

interface OpenDocument {
  readonly document: TextDocument
  timer?: ReturnType<typeof setTimeout>
  running?: AbortController
  diagnostics: readonly Diagnostic[]
  parsed?: { readonly version: number; readonly documents: readonly ManifestDocument[] }
}

export interface TextChange {
  readonly range?: Range
  readonly text: string
}

interface Position {
  readonly line: number
  readonly character: number
}

export class LanguageServer {
  readonly #options: LanguageServerOptions
  readonly #open = new Map<string, OpenDocument>()
  readonly #base: OfflineKinds
  #validation: DocumentValidation
  #definitions: readonly ManifestFile[] = []
  /** Waits for the definitions of the workspace, and for changes of them. */
  #ready: Promise<void> = Promise.resolve()

  constructor(options: LanguageServerOptions) {
    this.#options = options
    this.#base = new OfflineKinds({ release: options.settings.kubernetesVersion })
    this.#validation = this.#validationWith([], this.#base)
  }

  /** Reads the definitions of the workspace again, then validates all documents. Calls follow one another. */
  readDefinitions(): Promise<void> {
    this.#ready = this.#ready.then(async () => {
      const { folders, settings } = this.#options
      const found = await findDefinitions([...folders, ...settings.definitions])
      this.#definitions = found.map(({ path, text }) => ({ path: pathToFileURL(path).href, text }))
      await this.#learn()
    })
    return this.#ready
  }

  open(document: TextDocument): void {
    const entry: OpenDocument = { document, diagnostics: [] }
    this.#open.set(document.uri, entry)
    this.#schedule(entry, 0)
  }

  change(uri: string, changes: readonly TextChange[], version: number): void {
    const entry = this.#open.get(uri)
    if (entry === undefined) return
    const before = isDefinition(entry)
    TextDocument.update(entry.document, [...changes] as Parameters<typeof TextDocument.update>[1], version)
    if (before || isDefinition(entry)) this.#ready = this.#ready.then(() => this.#learn())
    this.#schedule(entry, quietMs)
  }

  close(uri: string): void {
    const entry = this.#open.get(uri)
    if (entry === undefined) return
    this.#open.delete(uri)
    clearTimeout(entry.timer)
    entry.running?.abort()
    this.#publish(uri, [])
  }

  hover(uri: string, { line, character }: Position): Hover | undefined {
    const documents = this.#documentsOf(uri)
    return hoverAt(documents, { line: line + 1, column: character + 1 }, this.#validation.kinds)
  }

  completions(uri: string, { line, character }: Position): CompletionItem[] {
    const entry = this.#open.get(uri)
    if (entry === undefined) return []
    const text = entry.document.getText()
    if (text.length > maxParsedLength) return []
    const at = { line, column: character }
    const context = isJson(entry.document) || /^\s*\{/.test(text) ? jsonContext(text, at) : yamlContext(text, at)
    return context === undefined ? [] : completionsAt(context, this.#validation.kinds)
  }

  symbols(uri: string): DocumentSymbol[] {
    const entry = this.#open.get(uri)
    return entry === undefined ? [] : symbolsOf(this.#documentsOf(uri), entry.document.lineCount)
  }

  codeActions(uri: string, range: Range): CodeAction[] {
    const found = this.#open.get(uri)?.diagnostics.filter((diagnostic) => overlap(diagnostic.range, range)) ?? []
    return codeActionsFor(uri, found)
  }

  /** The documents of a text that can be parsed. */
  #documentsOf(uri: string): readonly ManifestDocument[] {
    const entry = this.#open.get(uri)
    if (entry === undefined) return []
    const { document } = entry
    const text = document.getText()
    if (text.length > maxParsedLength || !isManifestText(text)) return []
    if (entry.parsed?.version !== document.version) {
      const found = readManifest(text, { json: isJson(document) })
      const isBroken = found.some(({ kind }) => kind === 'error')
      const documents = isTemplate(document, text, isBroken) ? [] : found.filter((each) => each.kind === 'document')
      entry.parsed = { version: document.version, documents }
    }
    return entry.parsed?.documents ?? []
  }

  #schedule(entry: OpenDocument, delayMs: number): void {
    clearTimeout(entry.timer)
    entry.running?.abort()
    entry.timer = setTimeout(() => void this.#validate(entry), delayMs)
  }

  async #validate(entry: OpenDocument): Promise<void> {
    const { document } = entry
    const { version, uri } = document
    const running = new AbortController()
    entry.running = running
    try {
      await this.#ready
      const diagnostics = await diagnosticsOf(document, this.#validation, running.signal)
      if (running.signal.aborted || document.version !== version || this.#open.get(uri) !== entry) return
      entry.diagnostics = diagnostics
      this.#publish(uri, diagnostics, version)
    } catch (error) {
      if (!running.signal.aborted) this.#options.connection.console.error(`krmkit: ${uri}: ${String(error)}`)
    }
  }

  #publish(uri: string, diagnostics: readonly Diagnostic[], version?: number): void {
    const parameters = { uri, diagnostics: [...diagnostics], ...(version === undefined ? {} : { version }) }
    void this.#options.connection.sendDiagnostics(parameters)
  }

  /** Learns the definitions of the workspace and of open documents, which may differ from their files. */
  async #learn(): Promise<void> {
    const open = [...this.#open.values()].filter(isDefinition)
    const openUris = new Set(open.map(({ document }) => document.uri))
    const files = [
      ...this.#definitions.filter(({ path }) => !openUris.has(path)),
      ...open.map(({ document }) => ({ path: document.uri, text: document.getText() })),
    ]
    await this.#base.load()
    const kinds = this.#base.copy()
    const pace = new Pace(createTurns())
    for (const file of files) {
      await kinds.defineAll(file)
      if (pace.due(true)) await pace.next()
    }
    this.#validation = this.#validationWith(files, kinds)
    for (const entry of this.#open.values()) this.#schedule(entry, quietMs)
  }

  #validationWith(definitions: readonly ManifestFile[], kinds: OfflineKinds): DocumentValidation {
    const { settings, program, limits = {} } = this.#options
    return { settings, kinds, definitions, program, limits }
  }
}

function isDefinition({ document }: OpenDocument): boolean {
  const text = document.getText()
  return text.length <= maxParsedLength && text.includes('CustomResourceDefinition') && isManifestText(text)
}

/** The path of a file URI; undefined for other documents. */
export function pathOfUri(uri: string): string | undefined {
  return uri.startsWith('file:') ? fileURLToPath(uri) : undefined
}
