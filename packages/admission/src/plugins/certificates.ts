import type { Authorizer } from '@krmkit/authorization'
import type { ApiObject, DeepReadonly, NamingProfile, UserInfo } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { readRequestSubject } from '../certificate-subject.ts'
import type { AdmissionPlugin } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'
import { onResource } from '../targets.ts'

/**
 * Plugins that authorize the use of certificate signers.
 *
 * @see API protocol specification, 2.10 and 5.9
 */

interface SigningRequest extends ApiObject {
  spec?: { signerName?: string; request?: string }
  status?: { certificate?: string; conditions?: unknown[] }
}

export interface SignerPluginOptions {
  readonly profile: NamingProfile
  readonly authorizer: Authorizer
}

/**
 * Requires the verb `approve` on the signer for updates of the subresource `approval`.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { certificateApproval } from '@krmkit/admission/plugins'
 * import { alwaysDenyAuthorizer } from '@krmkit/authorization'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const kind = { group: 'certificates.k8s.io', version: 'v1', kind: 'CertificateSigningRequest' }
 * const resource = { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' }
 * const metadata = { name: 'jane' }
 * const object = { apiVersion: 'certificates.k8s.io/v1', kind: kind.kind, metadata, spec: { signerName: 'example.com/users' } }
 * const plugins = [certificateApproval({ profile: stockProfile, authorizer: alwaysDenyAuthorizer })]
 * const request = { kind, resource, object, oldObject: object, operation: 'UPDATE', subresource: 'approval' } as const
 * const { status } = await admit(request, plugins, new ObjectSet())
 * status?.message
 * // 'certificatesigningrequests.certificates.k8s.io "jane" is forbidden: user not permitted to approve requests with
 * // signerName "example.com/users"'
 * ```
 */
export function certificateApproval(rights: SignerPluginOptions): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    handles: onResource(groupOf(rights), 'certificatesigningrequests', ['UPDATE'], ['approval']),
    async validate(object, attributes) {
      const { signerName = '' } = (attributes.oldObject as DeepReadonly<SigningRequest> | undefined)?.spec ?? {}
      if (await mayUseSigner(rights, attributes.user, { verb: 'approve', signerName })) return
      const detail = `user not permitted to approve requests with signerName ${goQuote(signerName)}`
      throw forbidden(attributes, object, detail)
    },
  }
}

/**
 * Requires the verb `sign` on the signer for status updates that change the certificate or the conditions.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { certificateSigning } from '@krmkit/admission/plugins'
 * import { alwaysDenyAuthorizer } from '@krmkit/authorization'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const kind = { group: 'certificates.k8s.io', version: 'v1', kind: 'CertificateSigningRequest' }
 * const resource = { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' }
 * const metadata = { name: 'jane' }
 * const object = { apiVersion: 'certificates.k8s.io/v1', kind: kind.kind, metadata, spec: { signerName: 'example.com/users' } }
 * const plugins = [certificateSigning({ profile: stockProfile, authorizer: alwaysDenyAuthorizer })]
 * const signed = { ...object, status: { certificate: 'LS0tLS1CRUdJTg==' } }
 * const request = { kind, resource, object: signed, oldObject: object, operation: 'UPDATE', subresource: 'status' } as const
 * const { status } = await admit(request, plugins, new ObjectSet())
 * status?.message
 * // 'certificatesigningrequests.certificates.k8s.io "jane" is forbidden: user not permitted to sign requests with signerName
 * // "example.com/users"'
 * ```
 */
export function certificateSigning(rights: SignerPluginOptions): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    handles: onResource(groupOf(rights), 'certificatesigningrequests', ['UPDATE'], ['status']),
    async validate(object, attributes) {
      const old = attributes.oldObject as DeepReadonly<SigningRequest> | undefined
      if (sameCertificateAndConditions((object as DeepReadonly<SigningRequest>).status, old?.status)) return
      const { signerName = '' } = old?.spec ?? {}
      if (await mayUseSigner(rights, attributes.user, { verb: 'sign', signerName })) return
      throw forbidden(attributes, object, `user not permitted to sign requests with signerName ${goQuote(signerName)}`)
    },
  }
}

/**
 * Requires the verb `attest` on the signer for cluster trust bundles that name it.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { clusterTrustBundleAttest } from '@krmkit/admission/plugins'
 * import { alwaysDenyAuthorizer } from '@krmkit/authorization'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const kind = { group: 'certificates.k8s.io', version: 'v1alpha1', kind: 'ClusterTrustBundle' }
 * const resource = { group: 'certificates.k8s.io', version: 'v1alpha1', resource: 'clustertrustbundles' }
 * const spec = { signerName: 'example.com/users', trustBundle: '' }
 * const object = { apiVersion: 'certificates.k8s.io/v1alpha1', kind: kind.kind, metadata: { name: 'example.com:users:v1' }, spec }
 * const plugins = [clusterTrustBundleAttest({ profile: stockProfile, authorizer: alwaysDenyAuthorizer })]
 * const { status } = await admit({ kind, resource, object }, plugins, new ObjectSet())
 * status?.message
 * // 'clustertrustbundles.certificates.k8s.io "example.com:users:v1" is forbidden: user not permitted to attest for signerName
 * // "example.com/users"'
 * ```
 */
export function clusterTrustBundleAttest(rights: SignerPluginOptions): AdmissionPlugin {
  const signerOf = (object: DeepReadonly<ApiObject> | undefined): string =>
    (object as { spec?: { signerName?: string } } | undefined)?.spec?.signerName ?? ''
  return {
    name: 'ClusterTrustBundleAttest',
    handles: onResource(groupOf(rights), 'clustertrustbundles', ['CREATE', 'UPDATE']),
    async validate(object, attributes) {
      const signerName = signerOf(object)
      if (signerName === '') return
      if (await mayUseSigner(rights, attributes.user, { verb: 'attest', signerName })) return
      throw forbidden(attributes, object, `user not permitted to attest for signerName ${goQuote(signerName)}`)
    },
  }
}

/**
 * Refuses requests for client certificates of the group `system:masters`.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { certificateSubjectRestriction } from '@krmkit/admission/plugins'
 * import { createCertificateRequest } from '@krmkit/certificates'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const pem = createCertificateRequest({ subject: { commonName: 'jane', organizations: ['system:masters'] } }).request
 * const spec = { request: btoa(pem), signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] }
 * const kind = { group: 'certificates.k8s.io', version: 'v1', kind: 'CertificateSigningRequest' }
 * const resource = { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' }
 * const object = { apiVersion: 'certificates.k8s.io/v1', kind: kind.kind, metadata: { name: 'jane' }, spec }
 * const { status } = await admit({ kind, resource, object }, [certificateSubjectRestriction(stockProfile)], new ObjectSet())
 * status?.message
 * // 'certificatesigningrequests.certificates.k8s.io "jane" is forbidden: use of kubernetes.io/kube-apiserver-client signer
 * // with system:masters group is not allowed'
 * ```
 */
export function certificateSubjectRestriction(profile: NamingProfile): AdmissionPlugin {
  const signer = `${profile.domain}/kube-apiserver-client`
  return {
    name: 'CertificateSubjectRestriction',
    handles: onResource(`certificates.${profile.apiDomain}`, 'certificatesigningrequests', ['CREATE']),
    validate(object, attributes) {
      const { signerName, request = '' } = (object as DeepReadonly<SigningRequest>).spec ?? {}
      if (signerName !== signer) return
      const subject = readRequestSubject(request)
      if ('problem' in subject) throw forbidden(attributes, object, `failed to parse CSR: ${subject.problem}`)
      if (!subject.organizations.includes('system:masters')) return
      throw forbidden(attributes, object, `use of ${signer} signer with system:masters group is not allowed`)
    },
  }
}

function groupOf({ profile }: SignerPluginOptions): string {
  return `certificates.${profile.apiDomain}`
}

/** Whether the user has the verb on the signer, or on all signers of its domain. */
async function mayUseSigner(
  { profile, authorizer }: SignerPluginOptions,
  user: UserInfo,
  { verb, signerName }: { readonly verb: string; readonly signerName: string },
): Promise<boolean> {
  const authorize = (name: string) =>
    authorizer.authorize({
      user,
      verb,
      isResource: true,
      group: `certificates.${profile.apiDomain}`,
      version: '*',
      resource: 'signers',
      subresource: '',
      namespace: '',
      name,
      path: '',
    })
  if ((await authorize(signerName)).decision === 'allow') return true
  return (await authorize(`${signerName.split('/')[0] ?? ''}/*`)).decision === 'allow'
}

type Status = DeepReadonly<SigningRequest>['status']

function sameCertificateAndConditions(a: Status, b: Status): boolean {
  return (
    (a?.certificate ?? '') === (b?.certificate ?? '') &&
    JSON.stringify(a?.conditions ?? []) === JSON.stringify(b?.conditions ?? [])
  )
}
