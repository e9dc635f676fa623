import { type NameRule, nameRules } from '@krmkit/meta'

/** Names of bundles start with their signer: `example.com/signer` has `example.com:signer:a`. */
export function trustBundleName(signer: string): NameRule {
  const prefix = `${signer.replaceAll('/', ':')}:`
  return (name, isPrefix) => {
    if (signer === '' && name.includes(':')) return ['ClusterTrustBundle without signer name must not have ":" in its name']
    if (signer === '') return nameRules.dns1123Subdomain(name, isPrefix)
    if (!name.startsWith(prefix)) {
      return [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`]
    }
    return nameRules.dns1123Subdomain(name.slice(prefix.length), isPrefix)
  }
}
