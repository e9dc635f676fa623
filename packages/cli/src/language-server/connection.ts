/** The only module that imports the libraries of the protocol. */
import {
  type CodeAction,
  CodeActionKind,
  type CompletionItem,
  CompletionItemKind,
  type Connection,
  createConnection,
  type Diagnostic,
  DiagnosticSeverity,
  DidChangeWatchedFilesNotification,
  type DocumentSymbol,
  type Hover,
  type InitializeParams,
  type Range,
  type ServerCapabilities,
  StreamMessageReader,
  StreamMessageWriter,
  SymbolKind,
  TextDocumentSyncKind,
} from 'vscode-languageserver/node'

export {
  type CodeAction,
  CodeActionKind,
  type CompletionItem,
  CompletionItemKind,
  type Connection,
  type Diagnostic,
  DiagnosticSeverity,
  DidChangeWatchedFilesNotification,
  type DocumentSymbol,
  type Hover,
  type InitializeParams,
  type Range,
  type ServerCapabilities,
  SymbolKind,
  TextDocumentSyncKind,
}

/** Serves the protocol on two streams. */
export function connect(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Connection {
  return createConnection(new StreamMessageReader(input), new StreamMessageWriter(output))
}
