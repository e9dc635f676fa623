import { DecodeError } from '../schema-error.ts'

/** Prefix of every YAML error. */
export const yamlErrorPrefix = 'error converting YAML to JSON: yaml: '

/** A position in a text, counted from 0. */
export interface TextMark {
  readonly line: number
  readonly column: number
}

/** @param code `Yaml` by default. */
export function yamlError(problem: string, code: 'Yaml' | 'Aliasing' = 'Yaml'): DecodeError {
  return new DecodeError({ code, message: yamlErrorPrefix + problem })
}

/**
 * An error at a position. As in kube-apiserver, the line is omitted for the first line; lines count from 1 for malformed
 * tokens and from 0 for misplaced ones.
 */
export function yamlErrorAt(problem: string, mark: TextMark, kind: 'malformed' | 'misplaced'): DecodeError {
  const line = mark.line === 0 ? '' : `line ${mark.line + (kind === 'malformed' ? 1 : 0)}: `
  const code = problem.startsWith('exceeded max depth') ? 'Depth' : 'Yaml'
  return new DecodeError({ code, message: `${yamlErrorPrefix}${line}${problem}`, mark })
}
