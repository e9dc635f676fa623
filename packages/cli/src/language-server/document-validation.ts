import {
  type ManifestFile,
  type ManifestValidator,
  type OfflineKinds,
  type ValidationFinding,
  validatorOf,
} from 'krmkit/validate'
import { type Diagnostic, DiagnosticSeverity } from './connection.ts'
import { diagnosticOf } from './diagnostics.ts'
import type { LanguageServerSettings } from './settings.ts'
import { isJson, isManifestText, isTemplate, maxDirectLength, maxTextLength, type TextDocument } from './text-document.ts'
import { type ThreadLimits, validateInThread } from './thread-validator.ts'

/** The diagnostics of a document. */

export interface DocumentValidation {
  readonly settings: LanguageServerSettings
  /** Kinds of the release and of the definitions. */
  readonly kinds: OfflineKinds
  /** Files of the workspace with definitions. */
  readonly definitions: readonly ManifestFile[]
  /** The program of threads. */
  readonly program: string
  readonly limits?: ThreadLimits
}

/** @throws the reason of the signal */
export async function diagnosticsOf(
  document: TextDocument,
  validation: DocumentValidation,
  signal: AbortSignal,
): Promise<Diagnostic[]> {
  const text = document.getText()
  if (text.length > maxTextLength) return [note(`the text is longer than ${maxTextLength / 2 ** 20} MiB and not validated`)]
  if (!isManifestText(text)) return []
  const file: ManifestFile = { path: isJson(document) ? `${document.uri}.json` : document.uri, text }
  const found =
    text.length > maxDirectLength ? await inThread(file, validation, signal) : await directly(file, validation, signal)
  if (typeof found === 'string') return [note(`validation ended: it takes more than ${found}`)]
  const isBroken = found.some(({ rule }) => rule === 'syntax')
  return isTemplate(document, text, isBroken) ? [] : found.map(diagnosticOf)
}

const validators = new WeakMap<DocumentValidation, ManifestValidator>()

async function directly(
  file: ManifestFile,
  validation: DocumentValidation,
  signal: AbortSignal,
): Promise<readonly ValidationFinding[]> {
  const validator = validators.get(validation) ?? validatorOf(validation.kinds, validation.settings.rules)
  validators.set(validation, validator)
  return (await validator.validate([file], { signal })).findings
}

/** The findings, or the limit that was exceeded. */
async function inThread(
  file: ManifestFile,
  { settings, definitions, program, limits }: DocumentValidation,
  signal: AbortSignal,
): Promise<readonly ValidationFinding[] | string> {
  const { kubernetesVersion, rules } = settings
  const outcome = await validateInThread(program, { file, definitions, kubernetesVersion, rules }, { ...limits, signal })
  signal.throwIfAborted()
  if (outcome.kind === 'findings') return outcome.findings
  return outcome.kind === 'exceeded' ? outcome.limit : []
}

function note(message: string): Diagnostic {
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } }
  return { source: 'krmkit', severity: DiagnosticSeverity.Information, range, message }
}
