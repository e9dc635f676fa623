import type { Attributes, Authorizer } from '@krmkit/authorization'
import { createCertificateRequest } from '@krmkit/certificates'
import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { readRequestSubject } from '../certificate-subject.ts'
import { clusterOf, refusalOf, runAdmission } from '../testing/run-admission.ts'
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './certificates.ts'
import { ownerReferencesPermissionEnforcement } from './owner-references.ts'

/** Allows the listed permissions: `verb group/resource/name`. */
function allowing(...rights: string[]): Authorizer & { readonly checkedRights: Attributes[] } {
  const checkedRights: Attributes[] = []
  return {
    checkedRights,
    authorize(attributes) {
      checkedRights.push(attributes)
      const { verb, group, resource, subresource, name } = attributes
      const right = `${verb} ${group}/${resource}${subresource === '' ? '' : `/${subresource}`} ${name}`
      return rights.includes(right) ? { decision: 'allow', reason: '' } : { decision: 'noOpinion', reason: 'no role' }
    },
  }
}

const requests = 'certificates.k8s.io/certificatesigningrequests'
const request = (signerName: string, status: object = {}) => ({ spec: { signerName }, status })

describe('CertificateApproval', () => {
  const admitted = (authorizer: Authorizer) =>
    runAdmission(certificateApproval({ profile: stockProfile, authorizer }), requests, {
      object: request('other.com/x'),
      oldObject: request('example.com/x'),
      subresource: 'approval',
    })

  it("requires approve on the stored request's signer or on its domain [P268]", async () => {
    expect((await admitted(allowing('approve certificates.k8s.io/signers example.com/x'))).allowed).toBe(true)
    expect((await admitted(allowing('approve certificates.k8s.io/signers example.com/*'))).allowed).toBe(true)
    expect(refusalOf(await admitted(allowing('approve certificates.k8s.io/signers other.com/x')))).toBe(
      'certificatesigningrequests.certificates.k8s.io "a" is forbidden: user not permitted to approve requests with signerName "example.com/x"',
    )
  })
})

describe('CertificateSigning', () => {
  const admitted = (authorizer: Authorizer, status: object) =>
    runAdmission(certificateSigning({ profile: stockProfile, authorizer }), requests, {
      object: request('example.com/x', status),
      oldObject: request('example.com/x'),
      subresource: 'status',
    })

  it('requires sign for changes of the certificate or conditions [P269]', async () => {
    const refused =
      'certificatesigningrequests.certificates.k8s.io "a" is forbidden: user not permitted to sign requests with signerName "example.com/x"'
    expect(refusalOf(await admitted(allowing(), { certificate: 'YQ==' }))).toBe(refused)
    expect(refusalOf(await admitted(allowing(), { conditions: [{ type: 'Failed' }] }))).toBe(refused)
    expect((await admitted(allowing('sign certificates.k8s.io/signers example.com/x'), { certificate: 'YQ==' })).allowed).toBe(
      true,
    )
    expect((await admitted(allowing(), {})).allowed).toBe(true)
  })
})

describe('ClusterTrustBundleAttest', () => {
  it("requires attest on the bundle's signer [P269]", async () => {
    const admitted = (authorizer: Authorizer, spec: object) =>
      runAdmission(clusterTrustBundleAttest({ profile: stockProfile, authorizer }), 'certificates.k8s.io/clustertrustbundles', {
        object: { spec },
      })
    expect((await admitted(allowing(), {})).allowed).toBe(true)
    expect((await admitted(allowing('attest certificates.k8s.io/signers a.b/*'), { signerName: 'a.b/c' })).allowed).toBe(true)
    expect(refusalOf(await admitted(allowing(), { signerName: 'a.b/c' }))).toContain(
      'user not permitted to attest for signerName "a.b/c"',
    )
  })
})

const csr = (organizations: string[]) =>
  Buffer.from(createCertificateRequest({ subject: { commonName: 'jane', organizations } }).request).toString('base64')

describe('CertificateSubjectRestriction', () => {
  const plugin = certificateSubjectRestriction(stockProfile)
  const signer = 'kubernetes.io/kube-apiserver-client'
  const admitted = async (signerName: string, text: string) =>
    refusalOf(await runAdmission(plugin, requests, { object: { spec: { signerName, request: text } } }))
  const masters = csr(['dev', 'system:masters'])

  it('refuses client certificates of the group system:masters', async () => {
    expect(await admitted(signer, masters)).toBe(
      'certificatesigningrequests.certificates.k8s.io "a" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    )
    expect(await admitted(signer, csr(['dev']))).toBe('')
    expect(await admitted('example.com/x', masters)).toBe('')
  })

  it('handles creation only, and reads only the subject', () => {
    expect(readRequestSubject(masters)).toEqual({ commonName: 'jane', organizations: ['dev', 'system:masters'] })
    for (const odd of [
      '',
      'YQ==',
      Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----').toString('base64'),
    ])
      expect(readRequestSubject(odd)).toEqual({ problem: expect.any(String) })
  })
})

describe('OwnerReferencesPermissionEnforcement', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'u' }
  const served = [{ group: 'apps', version: 'v1', kind: 'Deployment', resource: 'deployments', namespaced: true }]
  const owned = (...ownerReferences: object[]) => ({ metadata: { ownerReferences } })
  const admitted = (authorizer: Authorizer, object: object, oldObject?: object, subresource = '') =>
    runAdmission(
      ownerReferencesPermissionEnforcement(authorizer),
      'pods',
      { object, subresource, ...(oldObject === undefined ? {} : { oldObject }) },
      clusterOf({}, served),
    )
  const remove = 'delete /pods a'
  const finalize = 'update apps/deployments/finalizers d'

  it('requires the delete permission for updates of owners [P282]', async () => {
    const refused = `pods "a" is forbidden: cannot set an ownerRef on a resource you can't delete: no role, <nil>`
    expect(refusalOf(await admitted(allowing(), owned(owner), owned()))).toBe(refused)
    expect(refusalOf(await admitted(allowing(), owned(), owned(owner)))).toBe(refused)
    expect((await admitted(allowing(remove), owned(owner), owned())).allowed).toBe(true)
    expect((await admitted(allowing(remove), owned(), owned(owner))).allowed).toBe(true)
  })

  it('requires no delete permission for creation with owners [P282]', async () => {
    const authorizer = allowing()
    expect((await admitted(authorizer, owned(owner))).allowed).toBe(true)
    expect(authorizer.checkedRights).toEqual([])
  })

  it('allows updates that keep the owners [P282]', async () => {
    const authorizer = allowing()
    expect((await admitted(authorizer, owned(owner), owned(owner))).allowed).toBe(true)
    expect((await admitted(authorizer, {})).allowed).toBe(true)
    expect((await admitted(authorizer, owned(owner), {}, 'status')).allowed).toBe(true)
    expect(authorizer.checkedRights).toEqual([])
  })

  it('requires update of finalizers for blockOwnerDeletion [P283]', async () => {
    const blocking = { ...owner, blockOwnerDeletion: true }
    expect(refusalOf(await admitted(allowing(remove), owned(blocking)))).toBe(
      `pods "a" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: no role, <nil>`,
    )
    expect(refusalOf(await admitted(allowing(), owned(blocking)))).toContain('cannot set blockOwnerDeletion')
    expect((await admitted(allowing(finalize), owned(blocking))).allowed).toBe(true)
    expect((await admitted(allowing(remove), owned({ ...blocking, controller: true }), owned(blocking))).allowed).toBe(true)
    expect(refusalOf(await admitted(allowing(remove), owned(blocking), owned(owner)))).toContain('set finalizers on')
  })

  it('refuses blockOwnerDeletion for unknown kinds [P283]', async () => {
    const odd = { ...owner, kind: 'Thing', blockOwnerDeletion: true }
    expect(refusalOf(await admitted(allowing(remove), owned(odd)))).toBe(
      'pods "a" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion apps/v1 Kind Thing: no matches for kind "Thing" in version "apps/v1"',
    )
  })
})
