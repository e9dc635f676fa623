import { plainFailure } from './refusals.ts'

/** Reads JSON that somebody put into an annotation. @throws ApiError 500, as the stock server answers what it cannot read */
export function parseAnnotation(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw plainFailure(goJsonError(text))
  }
}

/** The first thing that is wrong, in the words of the stock server as far as they can be told without its parser. */
function goJsonError(text: string): string {
  const trimmed = text.trimStart()
  if (trimmed === '') return 'unexpected end of JSON input'
  const [first = ''] = trimmed
  if (!/[[{"0-9tfn-]/.test(first)) return `invalid character '${first}' looking for beginning of value`
  return 'unexpected end of JSON input'
}
