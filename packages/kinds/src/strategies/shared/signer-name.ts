/** Signer names: a domain and a path, `example.com/signer`. */
import { goQuote } from '@krmkit/meta/go-text'
import { maxLabelLength, maxSubdomainLength, validateDns1123Label, validateDns1123Subdomain } from '@krmkit/meta/names'
import type { FieldPath } from './field-path.ts'

const maxName = maxSubdomainLength + 1 + (maxSubdomainLength + maxLabelLength + 1)

export function validateSignerName(name: string, at: FieldPath): void {
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
  validateParts(labels, at, { whole: domain, rule: validateDns1123Label })
  if (labels.length < 2) at.invalid(domain, 'should be a domain with at least two segments separated by dots')
  validateParts(path.split('.'), at, { whole: path, rule: validateDns1123Subdomain })
  if (name.length > maxName) at.tooLong(name, maxName)
}

/** Whether a signer is one of the project's own: its domain is that of the cluster, or below. */
export function isKubernetesSigner(name: string, domain: string): boolean {
  const [host = ''] = name.split('/')
  return host === domain || host.endsWith(`.${domain}`)
}

/** Reports the first invalid part only. */
function validateParts(
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
