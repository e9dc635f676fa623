import { createManifestValidator, type ManifestValidator, objectText, type ValidationFinding } from 'krmkit/validate'

/** Problems of the editor's text, as `krmkit validate` finds them. */

export interface Diagnostic {
  readonly severity: 'error' | 'warning'
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
  readonly message: string
}

const validators = new Map<string, ManifestValidator>()

/**
 * Validates the text for a release, with the definitions of the text itself and of the cluster.
 *
 * @param definitions CustomResourceDefinitions of the cluster
 */
export async function diagnose(
  text: string,
  release: string,
  definitions: readonly { readonly kind: string }[] = [],
): Promise<Diagnostic[]> {
  const { findings } = await validatorOf(release).validate([{ path: 'editor', text }], { definitions })
  return findings.map(diagnosticOf)
}

/** The validator of a release, which is slow to create. */
function validatorOf(release: string): ManifestValidator {
  const validator = validators.get(release) ?? createManifestValidator({ release })
  validators.set(release, validator)
  return validator
}

function diagnosticOf({ severity, range, path, message, object }: ValidationFinding): Diagnostic {
  const subject = object === undefined ? '' : `${objectText(object)}: `
  const { line = 1, column = 1 } = range ?? {}
  return { severity, line, column, message: `${subject}${path === '' ? '' : `${path}: `}${message}` }
}
