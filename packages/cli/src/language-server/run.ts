import { resolve } from 'node:path'
import { messageOf } from '../cli-error.ts'
import {
  type Connection,
  connect,
  DidChangeWatchedFilesNotification,
  type InitializeParams,
  type ServerCapabilities,
  TextDocumentSyncKind,
} from './connection.ts'
import { LanguageServer, pathOfUri } from './language-server.ts'
import { type LanguageServerSettings, readSettings } from './settings.ts'
import { TextDocument } from './text-document.ts'
import { runThreadTask } from './thread-task.ts'
import type { ThreadLimits } from './thread-validator.ts'

export interface RunLanguageServerOptions {
  readonly version: string
  /** The program that is running, which threads run, too. */
  readonly program: string
  readonly settings?: LanguageServerSettings
  readonly limits?: ThreadLimits
}

/** Serves the language server protocol on the standard streams, or runs the task of this thread. */
export async function runLanguageServer(options: RunLanguageServerOptions): Promise<void> {
  if (await runThreadTask()) return
  const connection = connect(process.stdin, process.stdout)
  serve(connection, options)
  connection.listen()
}

function serve(connection: Connection, { version, program, settings: before, limits }: RunLanguageServerOptions): void {
  let server: LanguageServer | undefined
  let watches = false
  connection.onInitialize((parameters) => {
    const folders = foldersOf(parameters)
    const settings = settingsOf(parameters, before, connection)
    const definitions = settings.definitions.map((path) => resolve(folders[0] ?? '.', path))
    watches = parameters.capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true
    server = new LanguageServer({
      ...{ connection, folders, program, settings: { ...settings, definitions } },
      ...(limits === undefined ? {} : { limits }),
    })
    return { capabilities, serverInfo: { name: 'krmkit', version } }
  })
  connection.onInitialized(() => {
    void server?.readDefinitions()
    const watchers = [{ globPattern: '**/*.{yaml,yml,json}' }]
    if (watches) void connection.client.register(DidChangeWatchedFilesNotification.type, { watchers })
  })
  connection.onDidChangeWatchedFiles(() => void server?.readDefinitions())
  connection.onDidOpenTextDocument(({ textDocument: { uri, languageId, version: number, text } }) =>
    server?.open(TextDocument.create(uri, languageId, number, text)),
  )
  connection.onDidChangeTextDocument(({ textDocument: { uri, version: number }, contentChanges }) =>
    server?.change(uri, contentChanges, number),
  )
  connection.onDidCloseTextDocument(({ textDocument: { uri } }) => server?.close(uri))
  connection.onHover(({ textDocument: { uri }, position }) => server?.hover(uri, position) ?? null)
  connection.onCompletion(({ textDocument: { uri }, position }) => server?.completions(uri, position) ?? [])
  connection.onDocumentSymbol(({ textDocument: { uri } }) => server?.symbols(uri) ?? [])
  connection.onCodeAction(({ textDocument: { uri }, range }) => server?.codeActions(uri, range) ?? [])
}

const capabilities: ServerCapabilities = {
  textDocumentSync: TextDocumentSyncKind.Incremental,
  hoverProvider: true,
  completionProvider: { triggerCharacters: [':', ' ', '"', '-'] },
  documentSymbolProvider: true,
  codeActionProvider: { codeActionKinds: ['quickfix'] },
}

function foldersOf({ workspaceFolders, rootUri }: InitializeParams): string[] {
  const uris = workspaceFolders?.map(({ uri }) => uri) ?? (rootUri === null ? [] : [rootUri])
  return uris.map(pathOfUri).filter((path) => path !== undefined)
}

/** The settings of the editor; invalid ones are reported, and those of the command line hold. */
function settingsOf(
  { initializationOptions }: InitializeParams,
  before: LanguageServerSettings | undefined,
  connection: Connection,
): LanguageServerSettings {
  try {
    return readSettings(initializationOptions, before)
  } catch (error) {
    // Before the response to `initialize`, only notifications may be sent.
    void connection.sendNotification('window/showMessage', { type: 1, message: `krmkit: ${messageOf(error)}` })
    return readSettings(undefined, before)
  }
}
