import { CertificateError } from '../certificate-error.ts'

/** Values of `spec.usages` that are bits of keyUsage. */
const bits: Readonly<Record<string, number>> = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
}

/** Values of `spec.usages` that are purposes of extKeyUsage. */
const purposes: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
}

/** Maps `spec.usages` to keyUsage bits and extKeyUsage purposes. @throws CertificateError `Refused` for an unknown usage */
export function keyUsagesOf(usages: readonly string[]): {
  readonly bits: readonly number[]
  readonly purposes: readonly string[]
} {
  const found = { bits: new Set<number>(), purposes: new Set<string>() }
  for (const usage of usages) {
    if (Object.hasOwn(bits, usage)) found.bits.add(bits[usage]!)
    else if (Object.hasOwn(purposes, usage)) found.purposes.add(purposes[usage]!)
    else throw new CertificateError({ code: 'Refused', message: `unrecognized usage ${JSON.stringify(usage)}` })
  }
  return {
    bits: [...found.bits],
    purposes: Object.values(purposes).filter((oid, i, all) => found.purposes.has(oid) && all.indexOf(oid) === i),
  }
}
