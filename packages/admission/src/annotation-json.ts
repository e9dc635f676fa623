import { internalFailure } from './refusals.ts'

/** Parses the JSON value of an annotation. @throws ApiError 500 with kube-apiserver's message. */
export function parseAnnotationJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw internalFailure(goJsonError(text))
  }
}

/** Approximates the message of Go's JSON decoder for the first error. */
function goJsonError(text: string): string {
  const trimmed = text.trimStart()
  if (trimmed === '') return 'unexpected end of JSON input'
  const [first = ''] = trimmed
  if (!/[[{"0-9tfn-]/.test(first)) return `invalid character '${first}' looking for beginning of value`
  return 'unexpected end of JSON input'
}
