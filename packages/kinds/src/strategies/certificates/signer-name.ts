/** Names of signers: a domain and a name, `example.com/signer`. */
import { goQuote, maxLabelLength, maxSubdomainLength, validateDns1123Label, validateDns1123Subdomain } from '@krmkit/meta'
import type { FieldPath } from '../shared/field-path.ts'

const maxName = maxSubdomainLength + 1 + (maxSubdomainLength + maxLabelLength + 1)

export function checkSignerName(name: string, at: FieldPath): void {
  if (name === '') {
    at.required()
    return
  }
  const [domain, path, ...more] = name.split('/')
  if (domain === undefined || path === undefined || more.length > 0) {
    at.invalid(name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
    return
  }
  if (domain.length > maxSubdomainLength) at.tooLong(domain, maxSubdomainLength)
  const labels = domain.split('.')
  checkParts(labels, at, { whole: domain, rule: validateDns1123Label })
  if (labels.length < 2) at.invalid(domain, 'should be a domain with at least two segments separated by dots')
  checkParts(path.split('.'), at, { whole: path, rule: validateDns1123Subdomain })
  if (name.length > maxName) at.tooLong(name, maxName)
}

/** Only the first bad part is told. */
function checkParts(
  parts: readonly string[],
  at: FieldPath,
  how: { readonly whole: string; readonly rule: (text: string) => string[] },
): void {
  const bad = parts.find((part) => how.rule(part).length > 0)
  if (bad === undefined) return
  at.invalidAll(
    how.whole,
    how.rule(bad).map((text) => `validating label ${goQuote(bad)}: ${text}`),
  )
}
