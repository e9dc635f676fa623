import type { Authorizer } from '@krmkit/authorization'
import type { ApiObject, DeepReadonly, NamingProfile, UserInfo } from '@krmkit/meta'
import { readRequestSubject } from '../certificate-subject.ts'
import type { AdmissionPlugin } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'
import { onResource } from '../targets.ts'

/**
 * Who may approve and sign certificates of which signer, and what certificates no one gets.
 *
 * @see API protocol specification, 2.10 and 5.9
 */

interface SigningRequest extends ApiObject {
  spec?: { signerName?: string; request?: string }
  status?: { certificate?: string; conditions?: unknown[] }
}

export interface SignerRights {
  readonly profile: NamingProfile
  readonly authorizer: Authorizer
}

/** Only who may `approve` for the signer changes the sub-resource `approval`. */
export function certificateApproval(rights: SignerRights): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    handles: onResource(groupOf(rights), 'certificatesigningrequests', ['UPDATE'], ['approval']),
    async validate(object, attributes) {
      const { signerName = '' } = (attributes.oldObject as DeepReadonly<SigningRequest> | undefined)?.spec ?? {}
      if (await mayUseSigner(rights, attributes.user, { verb: 'approve', signerName })) return
      const detail = `user not permitted to approve requests with signerName ${JSON.stringify(signerName)}`
      throw forbidden(attributes, object, detail)
    },
  }
}

/** Only who may `sign` for the signer changes certificate and conditions in the status. */
export function certificateSigning(rights: SignerRights): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    handles: onResource(groupOf(rights), 'certificatesigningrequests', ['UPDATE'], ['status']),
    async validate(object, attributes) {
      const old = attributes.oldObject as DeepReadonly<SigningRequest> | undefined
      if (sameIssue((object as DeepReadonly<SigningRequest>).status, old?.status)) return
      const { signerName = '' } = old?.spec ?? {}
      if (await mayUseSigner(rights, attributes.user, { verb: 'sign', signerName })) return
      throw forbidden(attributes, object, `user not permitted to sign requests with signerName ${JSON.stringify(signerName)}`)
    },
  }
}

/** Only who may `attest` for a signer publishes trust bundles in its name. */
export function clusterTrustBundleAttest(rights: SignerRights): AdmissionPlugin {
  const signerOf = (object: DeepReadonly<ApiObject> | undefined): string =>
    (object as { spec?: { signerName?: string } } | undefined)?.spec?.signerName ?? ''
  return {
    name: 'ClusterTrustBundleAttest',
    handles: onResource(groupOf(rights), 'clustertrustbundles', ['CREATE', 'UPDATE']),
    async validate(object, attributes) {
      const signerName = signerOf(object)
      if (signerName === '') return
      if (await mayUseSigner(rights, attributes.user, { verb: 'attest', signerName })) return
      throw forbidden(attributes, object, `user not permitted to attest for signerName ${JSON.stringify(signerName)}`)
    },
  }
}

/** Nobody asks the signer of client certificates for the group of administrators. */
export function certificateSubjectRestriction(profile: NamingProfile): AdmissionPlugin {
  const signer = `${profile.domain}/kube-apiserver-client`
  return {
    name: 'CertificateSubjectRestriction',
    handles: onResource(`certificates.${profile.apiDomain}`, 'certificatesigningrequests', ['CREATE']),
    validate(object, attributes) {
      const { signerName, request = '' } = (object as DeepReadonly<SigningRequest>).spec ?? {}
      if (signerName !== signer) return
      const subject = readRequestSubject(request)
      if (subject === undefined) throw forbidden(attributes, object, 'failed to parse CSR')
      if (!subject.organizations.includes('system:masters')) return
      throw forbidden(attributes, object, `use of ${signer} signer with system:masters group is not allowed`)
    },
  }
}

function groupOf({ profile }: SignerRights): string {
  return `certificates.${profile.apiDomain}`
}

/** A right on the signer itself, or on all of its domain. */
async function mayUseSigner(
  { profile, authorizer }: SignerRights,
  user: UserInfo,
  { verb, signerName }: { readonly verb: string; readonly signerName: string },
): Promise<boolean> {
  const ask = (name: string) =>
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
  if ((await ask(signerName)).decision === 'allow') return true
  return (await ask(`${signerName.split('/')[0] ?? ''}/*`)).decision === 'allow'
}

type Issue = DeepReadonly<SigningRequest>['status']

function sameIssue(a: Issue, b: Issue): boolean {
  return (
    (a?.certificate ?? '') === (b?.certificate ?? '') &&
    JSON.stringify(a?.conditions ?? []) === JSON.stringify(b?.conditions ?? [])
  )
}
