/** The only module that imports the library of incremental documents. */
import { TextDocument } from 'vscode-languageserver-textdocument'

export { TextDocument }

/** Longest text, in UTF-16 units, that is analysed. */
export const maxTextLength = 8 * 2 ** 20
/** Longest text that is analysed in the main thread. */
export const maxDirectLength = 256 * 2 ** 10

/** Whether a text consists of manifests: other YAML and JSON files are left alone. */
export function isManifestText(text: string): boolean {
  return /(?:^|[{,\s])["']?apiVersion["']?\s*:/.test(text)
}

/**
 * Whether a text is a template, which becomes YAML only when it is rendered. Manifests may have braces in texts, too.
 *
 * @param isBroken whether the text cannot be parsed
 */
export function isTemplate({ uri, languageId }: TextDocument, text: string, isBroken: boolean): boolean {
  if (languageId === 'helm' || languageId === 'gotmpl') return true
  return text.includes('{{') && (isBroken || /\/templates\/[^?#]*\.(?:ya?ml|tpl)$/.test(uri))
}

/** Whether a document is JSON. */
export function isJson({ uri, languageId }: TextDocument): boolean {
  return languageId === 'json' || /\.json$/i.test(uri)
}
