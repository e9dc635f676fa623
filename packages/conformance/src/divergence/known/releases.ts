import { defaultRelease } from '@krmkit/meta'
import { release } from '../served.ts'
import type { KnownDivergence } from './index.ts'

const minor = Number(release.split('.')[1])

/** Departures of an emulated release from a kube-apiserver of that release: krmkit has what later releases mended. */
const ofEmulation: readonly KnownDivergence[] = [
  {
    id: 'D164',
    title: 'Texts of errors are those of the newest release',
    reason: 'An emulated release has its own fields, defaults and rules; what they say when they refuse is written once.',
    matches: ({ aspect }) => aspect === 'wording',
  },
  {
    id: 'D170',
    title: 'A node cannot change the owners of its Node object',
    reason: 'kube-apiservers let it until a security release of 1.31 to 1.33; krmkit refuses it in every release.',
    ends: true,
    matches: ({ at, krmkit }) => at === 'status' && /^403 nodes .* is not allowed to modify ownerReferences/.test(String(krmkit)),
  },
  {
    id: 'D171',
    title: 'Details of a refusal name the resource of the request',
    reason: 'A binding to a role that does not exist was refused with the details of the role until 1.30.',
    matches: ({ at, stock }, { step }) =>
      at === 'body.details.kind' && /bindings(\/|$)/.test(step.path) && /^(cluster)?roles$/.test(String(stock)),
  },
  {
    id: 'D172',
    title: 'A component that does not exist is 404',
    reason: 'kube-apiserver answered 500 until 1.32.',
    matches: ({ at, stock }) => at === 'status' && /^500 Component not found/.test(String(stock)),
  },
  {
    id: 'D173',
    title: 'Causes name the member that is wrong',
    reason: 'Until 1.32 kube-apiserver misspelt matchResources, and named the type of the drivers of a CSINode.',
    matches: ({ at, stock }) =>
      /^body\.details\.causes\.\d+\.field$/.test(at) && /matchResouces|^CSINodeDriver$/.test(String(stock)),
  },
  {
    id: 'D174',
    title: 'Metrics have one content type',
    reason: 'The escaping of names that some releases announce concerns names that no metric has.',
    matches: ({ at, stock }, { step }) =>
      at === 'headers.content-type' && step.path.startsWith('/metrics') && /; escaping=\w+$/.test(String(stock)),
  },
  {
    id: 'D175',
    title: 'The class of service of a pod cannot be removed',
    reason: 'A status without qosClass removed it until 1.31; it has followed from the specification ever since pods have it.',
    ends: true,
    matches: ({ at, stock }) => /(^|\.)status\.qosClass$/.test(at) && stock === '<absent>',
  },
  {
    id: 'D176',
    title: 'OpenAPI documents of earlier releases',
    reason:
      'They have the fields, required members and enumerations of the release. Defaults that are declared since 1.31, alpha versions that were removed and the parameters of later request options are those of the newest release.',
    matches: (_, { step }) => minor < 32 && /\/openapi\/|openapi\/v3|\.serverRelativeURL\}/.test(step.path),
  },
  {
    id: 'D177',
    title: 'A patch to another version of a kind is refused with 400',
    reason: 'kube-apiserver said 422 until 1.30.',
    matches: ({ at, stock, krmkit }) =>
      at === 'status' && /^422 .*no kind .* is registered/s.test(String(stock)) && /^400 no kind/.test(String(krmkit)),
  },
  {
    id: 'D180',
    title: 'There are no log files below /logs',
    reason: 'kube-apiserver serves the files of its machine by default until 1.30.',
    matches: ({ at, stock }) => minor < 31 && (at.startsWith('body.paths.') || (at === 'status' && /^406 /.test(String(stock)))),
  },
  {
    id: 'D179',
    title: 'Warnings of addresses in other notations than the canonical one come in every release',
    reason: 'kube-apiserver warns since 1.33 that it means to refuse them, which concerns clients of earlier releases as well.',
    matches: ({ at, stock, krmkit }) =>
      at === 'headers.warning' &&
      stock === '<absent>' &&
      /non-standard|RFC 5952|is ambiguous in this context/.test(String(krmkit)),
  },
  {
    id: 'D178',
    title: 'An update of a definition that changes nothing stores nothing',
    reason: 'Until 1.30 kube-apiserver stored a version with a new generation when only defaults of the stored form were added.',
    ends: true,
    matches: ({ at, stock, krmkit }, { step }) =>
      /customresourcedefinitions/.test(step.path) &&
      (at === 'body.metadata.generation'
        ? Number(stock) === Number(krmkit) + 1
        : minor < 31 && at === 'body.metadata.resourceVersion' && String(krmkit).startsWith('<version ')),
  },
]

export const ofReleases: readonly KnownDivergence[] = release === defaultRelease ? [] : ofEmulation
