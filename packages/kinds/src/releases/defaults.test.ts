import { createCertificateRequest } from '@krmkit/certificates'
import { type ApiObject, stockProfile } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { runPreparation } from '../preparation.ts'
import { base64 } from '../strategies/testing/objects.ts'
import { earlierDefaults } from './defaults.ts'

/** Certificate signing requests of `v1beta1`. @see API protocol specification, 2.10 */

const basic = ['digital signature', 'key encipherment']
const subject = { commonName: 'system:node:a', organizations: ['system:nodes'] }
const client = createCertificateRequest({ subject }).request
const serving = createCertificateRequest({ subject, names: { dns: ['a'] } }).request
const other = createCertificateRequest({ subject: { commonName: 'jane' } }).request

it.each([
  ['another subject', {}, other, 'kubernetes.io/legacy-unknown', basic],
  ['no request', {}, 'no PEM', 'kubernetes.io/legacy-unknown', basic],
  [
    'a client of a node',
    { usages: [...basic, 'client auth'] },
    client,
    'kubernetes.io/kube-apiserver-client-kubelet',
    [...basic, 'client auth'],
  ],
  ['a node', { usages: [...basic, 'server auth'] }, serving, 'kubernetes.io/kubelet-serving', [...basic, 'server auth']],
  ['a signer of the request', { signerName: 'example.com/x', usages: ['any'] }, client, 'example.com/x', ['any']],
])('v1beta1 infers the signer of a certificate request and accepts few usages: %s [P108]', (_, spec, pem, signerName, usages) => {
  const key = 'certificates.k8s.io/v1beta1/CertificateSigningRequest'
  const object = { metadata: {}, spec: { request: base64(pem), ...spec }, status: { conditions: [{ type: 'Approved' }] } }
  runPreparation(earlierDefaults(key, undefined)?.(object as unknown as ApiObject, 'v1beta1', stockProfile))
  expect(object.spec).toEqual({ request: base64(pem), signerName, usages })
  expect(object.status.conditions).toEqual([{ type: 'Approved', status: 'True' }])
})
